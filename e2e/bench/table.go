package main

import (
	"fmt"
	"slices"
	"time"
)

// times are the durations of equal operations.
type times []time.Duration

// at returns the p-th percentile.
func (t times) at(p float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	s := slices.Clone(t)
	slices.Sort(s)
	return s[min(len(s)-1, int(float64(len(s))*p/100))]
}

// repeat runs f n times and returns how long each took.
func repeat(n int, f func() error) (times, error) {
	t := make(times, 0, n)
	for range n {
		began := time.Now()
		if err := f(); err != nil {
			return t, err
		}
		t = append(t, time.Since(began))
	}
	return t, nil
}

// row is one line of the table. Figures are in the row's unit.
type row struct {
	name, unit  string
	raw, bridge float64 // 0: not measured
	goal        string
	met         bool
	judged      bool
}

type table struct {
	beside string // what the figures in raw are of
	rows   []row
}

func (t *table) add(name, unit string, raw, bridge float64) *row {
	t.rows = append(t.rows, row{name: name, unit: unit, raw: raw, bridge: bridge})
	return &t.rows[len(t.rows)-1]
}

// most says that the bridge's figure is to be at most limit.
func (r *row) most(limit float64) { r.judge(fmt.Sprintf("≤ %.4g", limit), r.bridge <= limit) }

func (r *row) judge(goal string, met bool) { r.goal, r.met, r.judged = goal, met, true }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func figure(f float64) string {
	switch {
	case f == 0:
		return "–"
	case f >= 1000:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.3f", f)
}

func (t *table) print() {
	line := func(a, b, c, d, e string) { fmt.Printf("%-60s %5s %10s %10s  %s\n", a, b, c, d, e) }
	line("", "", t.beside, "swank-mcp", "goal")
	for _, r := range t.rows {
		verdict := ""
		if r.judged {
			verdict = r.goal + "  met"
			if !r.met {
				verdict = r.goal + "  MISSED"
			}
		}
		line(r.name, r.unit, figure(r.raw), figure(r.bridge), verdict)
	}
	fmt.Println("\nratio swank-mcp : " + t.beside)
	for _, r := range t.rows {
		if r.raw > 0 && r.bridge > 0 {
			fmt.Printf("%-60s %.2f\n", r.name, r.bridge/r.raw)
		}
	}
}
