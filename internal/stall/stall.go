//go:build unix

// Package stall gives processes the processor now and then, as a busy or suspended machine does:
// tests hold with it that nothing is lost, and nothing false is said, for slowness. A test calls
// [Process] or [Children] with one of the [Ways], or [Stop].
package stall

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// Rounds is how often a test of processes that stall does its work in each of the [Ways]. With 0,
// the default, it does so a few times in one or two of them.
var Rounds = flag.Int("stalls", 0, "how often each test of processes that stall does its work in each of the ways to stall; 0: a few times in quick ways")

// Way is a way in which a process gets the processor.
type Way struct {
	Name      string
	Run, Hold time.Duration // for how long it runs, and then stands still
}

// Ways are the ways that the product has to bear.
var Ways = []Way{
	{"3 ms in 100", 3 * time.Millisecond, 97 * time.Millisecond},
	{"10 ms in 200", 10 * time.Millisecond, 190 * time.Millisecond},
	{"300 ms in 3.8 s", 300 * time.Millisecond, 3500 * time.Millisecond},
}

// Stop stops the process pid, and returns when its last thread has seen the signal: on a busy
// machine others go on for a while. It knows threads on Linux.
func Stop(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await.True(t, fmt.Sprintf("the threads of process %d to stop", pid), func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		return !slices.ContainsFunc(threads, func(file string) bool {
			stat, _ := os.ReadFile(file)
			_, rest, ok := strings.Cut(string(stat), ") ")
			return ok && rest[0] != 'T'
		})
	})
}

// Process has the process pid run for first, and then stand still and run in turn, as w says,
// until the end of the test or until the caller calls end.
func Process(t testing.TB, pid int, first time.Duration, w Way) (end func()) {
	t.Helper()
	return step(t, first, w, func(s syscall.Signal) { _ = syscall.Kill(pid, s) })
}

// Children does what [Process] does with all child processes of this one, those included that
// start meanwhile. It knows them on Linux.
func Children(t testing.TB, w Way) (end func()) {
	t.Helper()
	return step(t, w.Run, w, func(s syscall.Signal) {
		lists, _ := filepath.Glob("/proc/self/task/[0-9]*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					_ = syscall.Kill(pid, s)
				}
			}
		}
	})
}

// step sends SIGSTOP and SIGCONT in turn, beginning with the former after first.
func step(t testing.TB, first time.Duration, w Way, send func(syscall.Signal)) (end func()) {
	t.Helper()
	over, ended := make(chan struct{}), make(chan struct{})
	pause := func(d time.Duration) bool {
		select {
		case <-over:
			return false
		case <-time.After(d):
			return true
		}
	}
	go func() {
		defer close(ended)
		defer send(syscall.SIGCONT)
		for run := first; pause(run); run = w.Run {
			send(syscall.SIGSTOP)
			if !pause(w.Hold) {
				return
			}
			send(syscall.SIGCONT)
		}
	}()
	end = sync.OnceFunc(func() {
		close(over)
		<-ended
	})
	t.Cleanup(end)
	return end
}
