package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

func timing(t lisp.Timing) string {
	return "; Timing: " + Millis(t.Real) + " real, " + Millis(t.Run) + " run, " +
		Millis(t.GC) + " GC, " + Count(t.Bytes) + " bytes consed"
}

// Millis shows whole milliseconds, and of less than ten two decimals if any.
func Millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	digits := 0
	if ms < 10 {
		digits = 2
	}
	s := strconv.FormatFloat(ms, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s + " ms"
}

// Count is n with a comma between thousands.
func Count[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds is d in words: "1 second", "0.5 seconds".
func seconds(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " seconds"
}

// minutes is a duration in whole minutes, if it is one.
func minutes(d time.Duration) string {
	if d%time.Minute != 0 {
		return Age(d)
	}
	return Plural(int(d/time.Minute), "minute")
}

// Age is a duration to three figures or so: "120 ms", "3.2 s", "4 min 10 s", "2 h 5 min".
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strconv.FormatFloat(float64(d.Milliseconds()/100)/10, 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// Plural is n and a noun: "1 frame", "1,200 frames".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Waiting says how many calls wait.
func Waiting(n int) string {
	if n == 1 {
		return "1 call waits"
	}
	return Count(n) + " calls wait"
}
