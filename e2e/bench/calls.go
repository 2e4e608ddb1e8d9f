package main

import (
	"fmt"
	"slices"
	"time"
)

// calls measures both clients in one image, in alternating blocks, so that
// what else the machine does weighs on both alike.
func (l lab) calls(t *table, n int) error {
	b, err := l.startLean("cache")
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.eval("(+ 1 2)", "=> 3"); err != nil {
		return err
	}
	addr, err := b.address()
	if err != nil {
		return err
	}
	r, err := dialRaw(addr)
	if err != nil {
		return fmt.Errorf("raw client at %s: %w", addr, err)
	}
	defer r.close()

	const pairs = 40
	rawT, bridgeT, err := alternate(r, b, "(+ 1 2)", "=> 3", n, n/pairs)
	if err != nil {
		return err
	}
	t.add("(+ 1 2), p50", "ms", ms(rawT.at(50)), ms(bridgeT.at(50)))
	t.add(fmt.Sprintf("(+ 1 2), median ratio of %d pairs of blocks", pairs), "", 0, ratios(rawT, bridgeT, n/pairs)).most(2)
	t.add("(+ 1 2), p95", "ms", ms(rawT.at(95)), ms(bridgeT.at(95)))
	t.add("(+ 1 2), p99", "ms", ms(rawT.at(99)), ms(bridgeT.at(99)))

	var rawAll, bridgeAll time.Duration
	const flights, each = 5, 1000
	for range flights {
		d, err := r.flight("(+ 1 2)", each, 8)
		if err != nil {
			return err
		}
		rawAll += d
		d, err = b.flight("(+ 1 2)", "=> 3", each, 8)
		if err != nil {
			return err
		}
		bridgeAll += d
	}
	rate := func(d time.Duration) float64 { return flights * each / d.Seconds() }
	t.add("8 in flight", "1/s", rate(rawAll), rate(bridgeAll))

	for _, c := range []struct {
		name, code, want string
		n, block         int
		limit            float64
	}{
		{"(/ 1 0) with its report, p50", "(/ 1 0)", "DIVISION-BY-ZERO", 200, 20, 2},
		{"(defun f (x) (* x x)), p50", "(defun f (x) (* x x))", "=> F", 200, 20, 0},
		{"value of 1 MB, p50", "(make-string 1000000 :initial-element (code-char 118))", "vvv", 20, 5, 0},
		{"10 MB printed, p50", printing(10), "=> :DONE", 5, 1, 0},
	} {
		rawT, bridgeT, err := alternate(r, b, c.code, c.want, c.n, c.block)
		if err != nil {
			return err
		}
		row := t.add(c.name, "ms", ms(rawT.at(50)), ms(bridgeT.at(50)))
		if c.limit > 0 {
			row.most(c.limit)
		}
	}
	return nil
}

// alternate evaluates code n times by each client, in blocks.
func alternate(r *raw, b *lean, code, want string, n, block int) (rawT, bridgeT times, err error) {
	for done := -block; done < n; done += block { // the first block warms up
		x, err := repeat(block, func() error { _, err := r.eval(code); return err })
		if err != nil {
			return nil, nil, fmt.Errorf("raw client, %s: %w", code, err)
		}
		y, err := repeat(block, func() error { return b.eval(code, want) })
		if err != nil {
			return nil, nil, err
		}
		if done >= 0 {
			rawT, bridgeT = append(rawT, x...), append(bridgeT, y...)
		}
	}
	return rawT, bridgeT, nil
}

// ratios is the median, over the pairs of blocks, of how much longer the median
// call of the bridge's block took than that of the raw client's.
func ratios(rawT, bridgeT times, block int) float64 {
	var all []float64
	for at := 0; at+block <= len(rawT); at += block {
		all = append(all, float64(bridgeT[at:at+block].at(50))/float64(rawT[at:at+block].at(50)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// longRun asks whether the last evaluation is as fast as the hundredth, and
// whether the image grows threads or mailboxes.
func (l lab) longRun(t *table, n int) error {
	b, _, err := l.start("cache")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	const threads = "(length (sb-thread:list-all-threads))"
	const mailboxes = "(length swank/sbcl::*mailboxes*)"
	one := func() error { _, err := b.eval("(+ 1 2)", "=> 3"); return err }
	if _, err := repeat(50, one); err != nil {
		return err
	}
	early, err := repeat(100, one)
	if err != nil {
		return err
	}
	counts := make([]int, 0, 4)
	for _, half := range []int{n - 250, 0} {
		for _, form := range []string{threads, mailboxes} {
			k, err := b.number(form)
			if err != nil {
				return err
			}
			counts = append(counts, k)
		}
		if _, err := repeat(max(half, 0), one); err != nil {
			return err
		}
	}
	late, err := repeat(100, one)
	if err != nil {
		return err
	}
	t.add("evaluation around the 100th, p50", "ms", 0, ms(early.at(50)))
	t.add(fmt.Sprintf("evaluation around the %dth, p50", n), "ms", 0, ms(late.at(50))).most(ms(early.at(50)) * 1.25)
	t.add("threads of the image, afterwards", "", 0, float64(counts[2])).most(float64(counts[0]))
	t.add("mailboxes of the image, afterwards", "", 0, float64(counts[3])).most(float64(counts[1]))
	return nil
}
