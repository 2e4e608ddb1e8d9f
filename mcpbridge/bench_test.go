package mcpbridge

import (
	"bufio"
	"context"
	"io"
	"os"
	"sort"
	"strconv"
	"testing"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

// pipes serves a bridge over OS pipes, as a host does.
func pipes(b *testing.B) (in *os.File, out *bufio.Reader) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	// As an inherited stdin and stdout: not in the poller.
	inR.Fd()
	outW.Fd()
	bridge := New(Options{Open: opens(&fake.Image{})})
	ended := make(chan error, 1)
	go func() { ended <- bridge.Serve(context.Background(), inR, outW) }()
	b.Cleanup(func() { inW.Close(); <-ended; outR.Close() })
	out = bufio.NewReaderSize(outR, 64<<10)
	if _, err := io.WriteString(inW, initialize+"\n"); err != nil {
		b.Fatal(err)
	}
	if _, err := out.ReadSlice('\n'); err != nil {
		b.Fatal(err)
	}
	return inW, out
}

// BenchmarkCall is one evaluate-lisp at a time: everything but the image.
func BenchmarkCall(b *testing.B) {
	in, out := pipes(b)
	var times []time.Duration
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		line := evalCall(strconv.Itoa(i), "(+ 1 2)") + "\n"
		start := time.Now()
		if _, err := io.WriteString(in, line); err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds()), "p95-ns")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkTool is our share of a call behind the SDK: the arguments, the tool
// and its reply.
func BenchmarkTool(b *testing.B) {
	bridge := New(Options{Open: opens(&fake.Image{})})
	evaluate := tools.Find("evaluate-lisp")
	w := bridge.newWorkspace()
	defer w.close()
	takes, env := evaluate.Spec(bridge.o.limits()), w.env()
	arguments := []byte(`{"code":"(+ 1 2)"}`)
	b.ReportAllocs()
	for b.Loop() {
		r := &tools.Request{Args: args.Parse(takes, arguments), Env: env}
		w.result(evaluate.Answer(b.Context(), r))
	}
}
