package render

import (
	"testing"
	"time"
)

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 420 * time.Microsecond: "0.42 ms", 1500 * time.Microsecond: "1.5 ms", 2 * time.Millisecond: "2 ms",
		12345 * time.Microsecond: "12 ms", 2500 * time.Millisecond: "2500 ms",
	} {
		if got := Millis(d); got != want {
			t.Errorf("millis(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}
