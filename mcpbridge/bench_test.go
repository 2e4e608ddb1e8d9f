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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	bridge := New(Options{Image: constImage{&fakeImage{}}})
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

// BenchmarkInFlight keeps eight calls in flight.
func BenchmarkInFlight(b *testing.B) {
	in, out := pipes(b)
	b.ReportAllocs()
	line := evalCall("0", "(+ 1 2)") + "\n"
	send := func() {
		if _, err := io.WriteString(in, line); err != nil {
			b.Fatal(err)
		}
	}
	for range 8 {
		send()
	}
	for b.Loop() {
		if _, err := out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		send()
	}
}

// BenchmarkOurs is our share of a call: the line in, the tool, the line out,
// without the SDK between them.
func BenchmarkOurs(b *testing.B) {
	bridge := New(Options{Image: constImage{&fakeImage{}}})
	params := evaluateTool.params(&bridge.o)
	calls := calls{byID: make(map[jsonrpc.ID]*call)}
	line := []byte(evalCall("7", "(+ 1 2)"))
	arguments := []byte(`{"code":"(+ 1 2)"}`)
	result := []byte(`{"content":[{"type":"text","text":"=> 3"}]}`)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		f := frame{data: append([]byte(nil), line...)}
		if err := checkLine(&f, DefaultMaxLine); err != nil {
			b.Fatal(err)
		}
		m, refusal := parseMessage(f.data)
		if refusal != nil {
			b.Fatal(refusal)
		}
		id := calls.add(&call{id: m.id})
		r := &request{args: parseArgs(&evaluateTool, params, arguments), mcp: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}}
		reply, err := bridge.evaluate(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		bridge.result(reply)
		k := calls.take(id)
		out = responseLine(out[:0], k.id, &jsonrpc.Response{Result: result})
		calls.finish(k)
	}
}
