package launch

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"swank-mcp/internal/await"
)

func testDrain(t testing.TB, s *sink) (*drain, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDrain(r, s.write)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close()
		d.close()
	})
	return d, w
}

func TestSettleOrdersOutputBeforeTake(t *testing.T) {
	t.Parallel()
	s := newSink(keepHead, keepTail)
	d, w := testDrain(t, s)
	for i := range 2000 {
		want := fmt.Sprintf("line %d\n", i)
		if _, err := w.WriteString(want); err != nil {
			t.Fatal(err)
		}
		d.settle()
		if got := s.take(); got.Head != want {
			t.Fatalf("got %q, want %q", got.Head, want)
		}
	}
}

func TestDrainBoundsAndCounts(t *testing.T) {
	t.Parallel()
	s := newSink(keepHead, keepTail)
	d, w := testDrain(t, s)
	const size = 200 << 20
	block := []byte(strings.Repeat("0123456789abcde\n", 4096))
	begin := time.Now()
	for written := 0; written < size; written += len(block) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	d.settle()
	got := s.take()
	t.Logf("200 MiB in %v", time.Since(begin))
	if total := len(got.Head) + len(got.Tail) + int(got.Omitted); total != size {
		t.Errorf("head %d, omitted %d, tail %d: sum %d", len(got.Head), got.Omitted, len(got.Tail), total)
	}
	if len(got.Head) != keepHead || len(got.Tail) != keepTail {
		t.Errorf("kept %d and %d bytes", len(got.Head), len(got.Tail))
	}
	if !strings.HasPrefix(got.Head, "0123") || !strings.HasSuffix(got.Tail, "cde\n") {
		t.Errorf("ends %q, %q", got.Head[:8], got.Tail[len(got.Tail)-8:])
	}
	if !s.take().Empty() {
		t.Error("taken twice")
	}
}

func TestDrainKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	s := newSink(keepHead, keepTail)
	d, w := testDrain(t, s)
	text := "aλ語😀é\n"
	for i := range len(text) {
		if _, err := w.Write([]byte{text[i]}); err != nil {
			t.Fatal(err)
		}
		d.settle()
		if got := s.take().Head; !utf8.ValidString(got) || strings.Contains(got, "\uFFFD") {
			t.Fatalf("after byte %d: %q", i, got)
		}
	}
	for range 40_000 {
		_, _ = w.WriteString("語")
	}
	d.settle()
	got := s.take()
	if strings.ContainsRune(got.Head+got.Tail, utf8.RuneError) {
		t.Error("a character was cut")
	}
	if n := utf8.RuneCountInString(got.Head+got.Tail) + int(got.Omitted); n != 40_000 {
		t.Errorf("%d characters, want 40000", n)
	}
	_, _ = w.Write([]byte{'x', 0xff, 0xfe, 'y', '\n', 0xe8})
	_ = w.Close()
	<-d.done
	if got := s.take().Head; got != "x\uFFFDy\n\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestSettleAgainstAWriterWithoutEnd(t *testing.T) {
	t.Parallel()
	s := newSink(keepHead, keepTail)
	d, w := testDrain(t, s)
	var stop sync.WaitGroup
	quit := make(chan struct{})
	stop.Go(func() {
		for block := make([]byte, 4096); ; {
			select {
			case <-quit:
				return
			default:
				_, _ = w.Write(block)
			}
		}
	})
	for range 100 {
		await.Do(t, "settle returns though more is written", d.settle)
	}
	close(quit)
	stop.Wait()
}

func TestDrainClose(t *testing.T) {
	before := runtime.NumGoroutine()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDrain(r, func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	d.close()
	d.settle() // after close: no read of a descriptor that is somebody else's by now
	if _, err := w.WriteString("x"); err == nil {
		t.Error("the pipe is open")
	}
	_ = w.Close()
	await.True(t, "goroutine ends", func() bool { return runtime.NumGoroutine() <= before })
}

// An image that prints without end neither stops nor grows us.
func TestImagePrints(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	eval(t, p, `(cl:let ((line (cl:make-string 1023 :initial-element #\x))) (cl:dotimes (i 204800) (cl:write-line line sb-sys:*stdout*)) (cl:finish-output sb-sys:*stdout*))`)
	p.Settle()
	got := p.Background()
	runtime.ReadMemStats(&after)
	t.Logf("200 MiB from the image in %v", time.Since(begin))
	if n := int64(len(got.Head)+len(got.Tail)) + got.Omitted; n != 200<<20 {
		t.Errorf("%d characters, want %d", n, 200<<20)
	}
	if after.HeapInuse > before.HeapInuse+4<<20 {
		t.Errorf("heap grew from %d to %d", before.HeapInuse, after.HeapInuse)
	}
	for i := range 200 {
		want := fmt.Sprintf("reply %d\n", i)
		eval(t, p, fmt.Sprintf(`(cl:progn (cl:write-string "reply %d" sb-sys:*stderr*) (cl:terpri sb-sys:*stderr*) (cl:finish-output sb-sys:*stderr*))`, i))
		p.Settle()
		if got := p.Background().Head; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if got := p.LastErrors(); !strings.HasSuffix(got, "reply 199") || strings.Count(got, "\n") != 19 {
		t.Errorf("last errors %q", got)
	}
}

func BenchmarkSettle(b *testing.B) {
	d, _ := testDrain(b, newSink(keepHead, keepTail))
	for b.Loop() {
		d.settle()
	}
}
