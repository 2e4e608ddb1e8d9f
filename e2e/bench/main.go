// Command bench measures evaluate-lisp through a built swank-mcp over stdio
// beside a raw Swank client on a persistent thread of the same image, and
// prints one table, the ratios last.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/swank-mcp", "the program to measure")
	n := flag.Int("n", 2000, "sequential evaluations")
	long := flag.Int("long", 10000, "evaluations of the long run")
	callsOnly := flag.Bool("calls", false, "measure the calls alone")
	fresh := flag.Int("fresh", 0, "measure fresh images alone, so many times, beside plain SBCLs")
	checkpoints := flag.Int("checkpoints", 0, "measure checkpoints alone, so many times, beside a server without")
	transcripts := flag.Int("transcripts", 0, "measure the transcript alone, in so many pairs of blocks, beside a server without")
	overHTTP := flag.Int("http", 0, "measure HTTP alone, in so many pairs of blocks, beside stdio")
	status := flag.Int("status", 0, "measure project-status alone, so many times, beside plain SBCLs")
	definitions := flag.Int("definitions", 10000, "definitions of a large session")
	flag.Parse()
	if err := measure(*binary, *n, *long, *definitions, *fresh, *status, *checkpoints, *transcripts, *overHTTP, *callsOnly); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(binary string, n, long, definitions, fresh, status, checkpoints, transcripts, overHTTP int, callsOnly bool) error {
	dir, err := os.MkdirTemp("", "swb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	l := lab{binary: binary, dir: dir}
	t := table{beside: "raw Swank"}
	parts := []func(*table) error{
		func(t *table) error { return l.coldStart(t) },
		func(t *table) error { return l.calls(t, n) },
		func(t *table) error { return l.warmStart(t) },
		func(t *table) error { return l.longRun(t, long) },
		func(t *table) error { return l.definitions(t, definitions) },
		func(t *table) error { return l.memoryRun(t) },
	}
	switch {
	case fresh > 0:
		t.beside = "plain sbcl"
		parts = []func(*table) error{func(t *table) error { return l.fresh(t, fresh) }}
	case status > 0:
		t.beside = "plain sbcl"
		parts = []func(*table) error{func(t *table) error { return l.status(t, status) }}
	case checkpoints > 0:
		t.beside = "none"
		parts = []func(*table) error{func(t *table) error { return l.coldStart(t) }, func(t *table) error { return l.checkpoints(t, checkpoints) }}
	case transcripts > 0:
		t.beside = "none"
		parts = []func(*table) error{func(t *table) error { return l.coldStart(t) }, func(t *table) error { return l.transcripts(t, transcripts) }}
	case overHTTP > 0:
		t.beside = "stdio"
		parts = []func(*table) error{func(t *table) error { return l.coldStart(t) }, func(t *table) error { return l.overHTTP(t, overHTTP) }}
	case callsOnly:
		parts = parts[:2]
	}
	for _, part := range parts {
		if err := part(&t); err != nil {
			return err
		}
	}
	t.print()
	return nil
}

// coldStart measures a first start on an empty cache and leaves a warm one.
func (l lab) coldStart(t *table) error {
	b, _, err := l.start("cache")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	if _, err := b.eval("(+ 1 2)", "=> 3"); err != nil {
		return err
	}
	t.add("process start to first evaluation, empty cache", "ms", 0, ms(time.Since(b.Started())))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// One that is still being written lies in a directory tmp-….
		found, _ := filepath.Glob(filepath.Join(l.dir, "cache", "*", "image-*", "*.core"))
		if len(found) > 0 {
			return nil
		}
		if time.Now().After(end) {
			t.add("cores built within 30 s of the first start", "", 0, 0).judge("= 1", false)
			return nil
		}
	}
}

func (l lab) warmStart(t *table) error {
	var opened, first times
	for range 15 {
		b, d, err := l.start("cache")
		if err != nil {
			return err
		}
		opened = append(opened, d)
		began := time.Now()
		if _, err := b.eval("(+ 1 2)", "=> 3"); err != nil {
			return err
		}
		first = append(first, time.Since(began))
		if err := b.Close(10 * time.Second); err != nil {
			return err
		}
	}
	t.add("process start to initialize answered, p50", "ms", 0, ms(opened.at(50))).most(50)
	t.add("first evaluation with the cached core, p50", "ms", 0, ms(first.at(50))).most(150)
	return nil
}

// memoryRun measures the bridge's own memory in a fresh process.
func (l lab) memoryRun(t *table) error {
	b, _, err := l.start("cache")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	if _, err := b.eval("(+ 1 2)", "=> 3"); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	idle, err := b.memory("VmRSS")
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := b.eval(printing(100), "=> :DONE"); err != nil {
		return err
	}
	t.add("100 MB printed", "ms", 0, ms(time.Since(began)))
	peak, err := b.memory("VmHWM")
	if err != nil {
		return err
	}
	t.add("memory of the bridge, idle", "MiB", 0, idle).most(25)
	t.add("memory of the bridge, peak while 100 MB is printed", "MiB", 0, peak).most(64)
	return nil
}

// printing is a form that prints so many megabytes.
func printing(mb int) string {
	return fmt.Sprintf("(let ((l (make-string 999999 :initial-element (code-char 112)))) (dotimes (i %d :done) (write-line l)))", mb)
}
