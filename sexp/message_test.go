package sexp

import (
	"reflect"
	"strings"
	"testing"
)

// answer is a :return of a value of type T.
type answer[T any] struct {
	_     struct{} `sexp:",list"`
	Head  Symbol
	Value struct {
		_      struct{} `sexp:",list"`
		Status Symbol
		Value  T
	}
	ID int64
}

func readAnswer[T any](t *testing.T, name string) T {
	t.Helper()
	var a answer[T]
	if err := Unmarshal(frames(t)[name], &a); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if a.Head != ":return" || a.Value.Status != ":ok" || a.ID == 0 {
		t.Fatalf("%s: %+v", name, a)
	}
	return a.Value.Value
}

func readEvent[T any](t *testing.T, name string) T {
	t.Helper()
	var e T
	if err := Unmarshal(frames(t)[name], &e); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e
}

func TestAbort(t *testing.T) {
	var a answer[string]
	if err := Unmarshal(frames(t)["return-abort"], &a); err != nil {
		t.Fatal(err)
	}
	if a.Value.Status != ":abort" || a.Value.Value != "DIVISION-BY-ZERO" && a.Value.Value != "NIL" &&
		!strings.Contains(a.Value.Value, "DIVISION-BY-ZERO") {
		t.Errorf("abort = %+v", a)
	}
}

func TestEvalAndGrabOutput(t *testing.T) {
	got := readAnswer[[2]string](t, "eval-and-grab-output")
	if want := [2]string{"a\\b \"q\" λ😀\n", "1\nFOO\n\"s\""}; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInteractiveEval(t *testing.T) {
	if got := readAnswer[string](t, "interactive-eval"); got != "=> 3 (2 bits, #x3, #o3, #b11)" {
		t.Errorf("got %q", got)
	}
}

// location is (:location BUFFER POSITION HINTS) or (:error MESSAGE).
type location struct {
	_        struct{} `sexp:",list"`
	Head     Symbol
	Where    any
	Position any
	Hints    any
}

type definition struct {
	_    struct{} `sexp:",list"`
	Name string
	At   location
}

func TestDefinitions(t *testing.T) {
	got := readAnswer[[]definition](t, "find-definitions")
	if len(got) != 1 || !strings.HasPrefix(got[0].Name, "(DEFUN") || got[0].At.Head != ":location" {
		t.Fatalf("definitions = %+v", got)
	}
	file, ok := got[0].At.Where.(List)
	if !ok || file[0] != Symbol(":file") || !strings.HasSuffix(file[1].(string), "/swank.lisp") {
		t.Errorf("where = %#v", got[0].At.Where)
	}
	position, ok := got[0].At.Position.(List)
	if !ok || position[0] != Symbol(":position") || position[1].(int64) <= 0 {
		t.Errorf("position = %#v", got[0].At.Position)
	}
	callers := readAnswer[[]definition](t, "xref")
	if len(callers) == 0 || callers[0].At.Head != ":location" {
		t.Errorf("callers = %+v", callers)
	}
	missing := readAnswer[location](t, "frame-source")
	if missing.Head != ":error" || !strings.Contains(missing.Where.(string), "eval.lisp") {
		t.Errorf("source = %+v", missing)
	}
}

func TestCompilation(t *testing.T) {
	type note struct {
		Message    string   `sexp:"message"`
		Severity   Symbol   `sexp:"severity"`
		Location   location `sexp:"location"`
		References []any    `sexp:"references"`
	}
	type result struct {
		_        struct{} `sexp:",list"`
		Head     Symbol
		Notes    []note
		Success  bool
		Duration float64
		Load     bool
		Fasl     *string
	}
	got := readAnswer[result](t, "compile")
	if got.Head != ":compilation-result" || !got.Success || got.Duration <= 0 || got.Load || got.Fasl != nil {
		t.Errorf("compilation = %+v", got)
	}
	severities := map[Symbol]bool{}
	for _, n := range got.Notes {
		severities[n.Severity] = true
		if n.Message == "" || n.Location.Head != ":location" {
			t.Errorf("note = %+v", n)
		}
	}
	if !severities[":style-warning"] {
		t.Errorf("severities = %v", severities)
	}
}

func TestCompletions(t *testing.T) {
	type chunk struct {
		_     struct{} `sexp:",list"`
		Start int
		Text  string
	}
	type fuzzy struct {
		_      struct{} `sexp:",list"`
		Name   string
		Score  string
		Chunks []chunk
		Flags  string
	}
	got := readAnswer[struct {
		_           struct{} `sexp:",list"`
		All         []fuzzy
		Interrupted bool
	}](t, "fuzzy")
	want := fuzzy{Name: "multiple-value-bind", Score: "51.69", Flags: "-f---m--",
		Chunks: []chunk{{Start: 0, Text: "m"}, {Start: 9, Text: "v"}, {Start: 15, Text: "bind"}}}
	if len(got.All) != 1 || !reflect.DeepEqual(got.All[0], want) || got.Interrupted {
		t.Errorf("fuzzy = %+v", got)
	}
	simple := readAnswer[struct {
		_      struct{} `sexp:",list"`
		All    []string
		Prefix string
	}](t, "completions")
	if len(simple.All) == 0 || !strings.HasPrefix(simple.Prefix, "multiple-v") {
		t.Errorf("completions = %+v", simple)
	}
}

func TestApropos(t *testing.T) {
	got := readAnswer[[]struct {
		Designator string `sexp:"designator"`
		Function   any    `sexp:"function"`
		Type       any    `sexp:"type"`
	}](t, "apropos")
	functions := 0
	for _, a := range got {
		if !strings.Contains(a.Designator, "HASH-TABLE") {
			t.Errorf("designator = %q", a.Designator)
		}
		switch a.Function.(type) {
		case nil:
		case string, Symbol: // documentation or :not-documented
			functions++
		default:
			t.Errorf("function = %#v", a.Function)
		}
	}
	if functions < 5 {
		t.Errorf("%d functions in %d answers", functions, len(got))
	}
}

// TestInspector reads parts that are strings or lists.
func TestInspector(t *testing.T) {
	for name, whole := range map[string]bool{"inspector": true, "inspector-range": false} {
		v := readEvent[inspection](t, name).Value.View
		if v.Title == "" || len(v.Content.Parts) != min(v.Content.End, v.Content.Length) {
			t.Errorf("%s: %q %d %d %d", name, v.Title, len(v.Content.Parts), v.Content.Start, v.Content.End)
		}
		if whole != (v.Content.Length <= v.Content.End) {
			t.Errorf("%s: %d of %d", name, v.Content.End, v.Content.Length)
		}
		values := 0
		for _, part := range v.Content.Parts {
			switch p := part.(type) {
			case string:
			case List:
				if p[0] == Symbol(":value") {
					values++
				}
			default:
				t.Errorf("%s: part %#v", name, part)
			}
		}
		if values < 10 {
			t.Errorf("%s: %d values", name, values)
		}
	}
}

func TestBacktraces(t *testing.T) {
	for name, want := range map[string]int{"backtrace": 20, "backtrace-100": 100} {
		v := readEvent[backtrace](t, name).Value
		for i, f := range v.Frames {
			if f.N != i || f.Text == "" {
				t.Errorf("%s: frame %d = %+v", name, i, f)
			}
		}
		if len(v.Frames) < want-10 || len(v.Frames) > 100 {
			t.Errorf("%s: %d frames", name, len(v.Frames))
		}
	}
	type local struct {
		Name  string `sexp:"name"`
		ID    int    `sexp:"id"`
		Value string `sexp:"value"`
	}
	got := readAnswer[struct {
		_      struct{} `sexp:",list"`
		Locals []local
		Tags   []any
	}](t, "frame-locals")
	if len(got.Locals) != 1 || got.Locals[0].Value != "(/ 1 0)" {
		t.Errorf("locals = %+v", got)
	}
}

// TestEvents reads the messages that are no answers.
func TestEvents(t *testing.T) {
	type event struct {
		_    struct{} `sexp:",list"`
		Head Symbol
		A, B any
		Rest []any `sexp:",rest"`
	}
	for name, want := range map[string]event{
		"listener-0":  {Head: ":write-string", A: "\n1 "},
		"listener-1":  {Head: ":write-string", A: "2\n", B: Symbol(":repl-result")},
		"listener-2":  {Head: ":write-string", A: "3\n", B: Symbol(":repl-result")},
		"new-package": {Head: ":new-package", A: "SWANK", B: "SWANK"},
	} {
		if got := readEvent[event](t, name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, want %#v", name, got, want)
		}
	}
	for name, head := range map[string]Symbol{"ping": ":ping", "read-string": ":read-string", "debug-activate": ":debug-activate", "debug-return": ":debug-return"} {
		e := readEvent[event](t, name)
		if _, ok := e.A.(int64); !ok || e.Head != head {
			t.Errorf("%s = %#v", name, e)
		}
	}
	e := readEvent[event](t, "reader-error")
	if e.A != "(:emacs-rex (nosuch:fn) nil t 99)" || !strings.HasPrefix(e.B.(string), "Package NOSUCH does not exist") {
		t.Errorf("reader-error = %#v", e)
	}
	indentation := readEvent[struct {
		_    struct{} `sexp:",list"`
		Head Symbol
		All  []struct {
			_        struct{} `sexp:",list"`
			Name     string
			Rule     any
			Packages []string
		}
	}](t, "indentation-update")
	if len(indentation.All) < 200 {
		t.Errorf("%d indentations", len(indentation.All))
	}
}

// TestRawObjects reads answers that hold what should never have been returned.
func TestRawObjects(t *testing.T) {
	got := readAnswer[[]any](t, "opaque")
	if len(got) != 7 {
		t.Fatalf("%d objects: %#v", len(got), got)
	}
	for _, i := range []int{1, 2, 3, 4, 6} {
		if _, ok := got[i].(Unreadable); !ok {
			t.Errorf("object %d = %#v", i, got[i])
		}
	}
	readable := readAnswer[[]any](t, "symbols")
	if len(readable) != 18 || readable[0] != Symbol(":|a|") || readable[9] != 1.000000013351432e-10 || readable[15] != `a"b` {
		t.Errorf("%d: %#v", len(readable), readable)
	}
	threads := readAnswer[[][]any](t, "list-threads")
	if len(threads) < 3 || threads[0][0] != Symbol(":id") {
		t.Errorf("threads = %#v", threads)
	}
}
