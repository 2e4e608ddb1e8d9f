package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// truthRow is what is done, and what an expression answers before the image
// dies and after it.
type truthRow struct {
	name  string
	make  []any  // code, or a truthCall
	look  string // the expression
	want  string // its value, after the death
	alive string // its value before it; "" the same
	lost  string // what may be named as lost instead; "" must come back
	saved bool   // a file of save-session must answer so, too
}

// rowsHold tries one row in so many; the seed chooses the first.
func rowsHold(t *testing.T, oneIn int, rows []truthRow) {
	first := int(tier.Seed(t)) % oneIn
	for i, row := range rows {
		if i%oneIn != first {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.holds(t, model.NewWorld(t))
		})
	}
}

func (row truthRow) holds(t *testing.T, w *model.World) {
	for _, m := range row.make {
		if code, ok := m.(string); ok {
			m = model.Eval(code)
		}
		t.Logf("reply: %s", harness.Clip(w.Do(t, m.(model.Call))))
	}
	alive := row.want
	if row.alive != "" {
		alive = row.alive
	}
	if value, reply := w.Ask(t, row.look); value != alive {
		t.Fatalf("before the death %s answered %s, want %s:\n%s", row.look, value, alive, reply)
	}
	if row.saved {
		file, told := w.Save(t)
		if value := w.InPlainSBCL(t, row.look, file); value != row.want && !(row.lost != "" && model.ToldLost(told, row.lost)) {
			t.Errorf("the saved file in a plain sbcl: %s answered %s, want %s%s; save-session said:\n%s", row.look, value, row.want, row.orLost(), told)
		}
	}
	atOnce := harness.Status(t, w.Server)
	w.Do(t, model.Call{})
	value, reply := w.Ask(t, row.look)
	switch {
	case value == row.want:
	case row.lost == "" || !model.ToldLost(reply, row.lost):
		t.Errorf("after the death %s answered %s, want %s%s; the reply:\n%s", row.look, value, row.want, row.orLost(), harness.Clip(reply))
	case !model.HasName(atOnce, row.lost):
		t.Errorf("%s is lost, and session-status did not say so before:\n%s", row.lost, atOnce)
	}
}

func (row truthRow) orLost() string {
	if row.lost == "" {
		return ""
	}
	return ", or " + row.lost + " named as lost"
}
