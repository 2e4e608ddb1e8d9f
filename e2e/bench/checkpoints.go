package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// checkpoints measures a server beside one without checkpoints: evaluating, and coming
// back after the image was killed, each n times; and what checkpoints themselves take.
func (l lab) checkpoints(t *table, n int) error {
	with, _, err := l.start("cache", "--toolsets", "all")
	if err != nil {
		return err
	}
	defer with.Close(10 * time.Second)
	without, _, err := l.start("cache", "--toolsets", "all", "--no-checkpoints")
	if err != nil {
		return err
	}
	defer without.Close(10 * time.Second)
	if err := compareEvaluations(t, with, without, n); err != nil {
		return err
	}
	for _, b := range []bridge{with, without} {
		if _, err := b.eval(manyDefinitions(0, 100), "=> "); err != nil {
			return err
		}
	}
	var back [2]times
	for i, b := range []bridge{without, with} {
		if back[i], err = b.deaths(n); err != nil {
			return err
		}
	}
	for _, p := range []float64{50, 99} {
		t.add(fmt.Sprintf("from kill -9 to the next value, 100 definitions, p%.0f", p), "ms", ms(back[0].at(p)), ms(back[1].at(p)))
	}
	for _, mb := range []int{50, 300} {
		if err := with.backAndForth(t, mb, n); err != nil {
			return err
		}
	}
	return nil
}

// compareEvaluations measures (+ 1 2) in alternating blocks. Each is the first in every
// other pair.
func compareEvaluations(t *table, with, without bridge, n int) error {
	var ratios []float64
	var all [2]times
	for pair := range n {
		var block [2]times
		for k := range 2 {
			i := (pair + k) % 2
			b := []bridge{without, with}[i]
			took, err := repeat(200, func() error { _, err := b.eval("(+ 1 2)", "=> 3"); return err })
			if err != nil {
				return err
			}
			block[i], all[i] = took, append(all[i], took...)
		}
		ratios = append(ratios, float64(block[1].at(50))/float64(block[0].at(50)))
	}
	t.add("(+ 1 2), p50", "ms", ms(all[0].at(50)), ms(all[1].at(50)))
	t.add(fmt.Sprintf("median of the ratios of %d pairs of blocks", n), "", 0, median(ratios)).most(1.05)
	return nil
}

var imagePID = regexp.MustCompile(`launched, pid (\d+)`)

// deaths kills the image n times and tells how long it took each time until the next
// value.
func (b bridge) deaths(n int) (took times, err error) {
	if _, err := b.eval("(defvar *alive* 42)", "=> "); err != nil {
		return nil, err
	}
	for range n {
		if _, err := b.eval("*alive*", "=> 42"); err != nil {
			return nil, err
		}
		time.Sleep(500 * time.Millisecond) // for a checkpoint
		text, err := b.tool("session-status", nil)
		if err != nil {
			return nil, err
		}
		m := imagePID.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("session-status shows no image:\n%s", text)
		}
		pid, _ := strconv.Atoi(m[1])
		began := time.Now()
		if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
			return nil, fmt.Errorf("there is no process %d", pid)
		}
		for {
			_, err := b.eval("*alive*", "=> 42")
			if err == nil {
				break
			}
			if time.Since(began) > 10*time.Second {
				return nil, err
			}
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// backAndForth measures checkpoints, undo and trials of an image with so much live data.
func (b bridge) backAndForth(t *table, mb, n int) error {
	form := fmt.Sprintf("(progn (defparameter *data* (make-array %d :element-type '(unsigned-byte 8) :initial-element 1)) (sb-ext:gc) nil)", (mb-50)<<20+1)
	if _, err := b.eval(form, "=> NIL"); err != nil {
		return err
	}
	var taken, undone, tried times
	for range n {
		began := time.Now()
		if err := b.expect("checkpoint", map[string]any{"name": "bench"}, "taken"); err != nil {
			return err
		}
		taken = append(taken, time.Since(began))
		if _, err := b.eval("(setf *alive* 43)", "=> 43"); err != nil {
			return err
		}
		if err := b.expect("checkpoint", map[string]any{"name": "after"}, "taken"); err != nil {
			return err
		}
		began = time.Now()
		if err := b.expect("undo", map[string]any{"to": "bench"}, "Undone"); err != nil {
			return err
		}
		if _, err := b.eval("*alive*", "=> 42"); err != nil {
			return err
		}
		undone = append(undone, time.Since(began))
		if err := b.expect("checkpoint", map[string]any{"name": "here"}, "taken"); err != nil {
			return err
		}
		began = time.Now()
		if err := b.expect("evaluate-lisp", map[string]any{"code": "(setf *alive* 44)", "trial": true}, "=> 44"); err != nil {
			return err
		}
		tried = append(tried, time.Since(began))
		for _, name := range []string{"bench", "after", "here"} {
			if err := b.expect("checkpoint", map[string]any{"drop": name}, "Dropped"); err != nil {
				return err
			}
		}
	}
	name := func(what string) string { return fmt.Sprintf("%s, %d MB, p50", what, mb) }
	most := map[int]float64{50: 15, 300: 60}[mb]
	t.add(name("checkpoint, the whole call"), "ms", 0, ms(taken.at(50))).most(most)
	undo := t.add(name("undo and the next value"), "ms", 0, ms(undone.at(50)))
	if mb == 50 {
		undo.most(30)
	}
	t.add(name("trial of a form"), "ms", 0, ms(tried.at(50)))
	return nil
}

// tool calls a tool and returns its reply.
func (b bridge) tool(name string, arguments map[string]any) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	r, err := b.Tool(ctx, name, arguments)
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

func median(figures []float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	return s[len(s)/2]
}
