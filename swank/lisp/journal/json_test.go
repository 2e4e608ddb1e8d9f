package journal

import (
	"encoding/json"
	"testing"
	"time"
)

// A journal that was written and read is what it was, also for what comes after.
func TestJSON(t *testing.T) {
	j := &Journal{Package: "SHOP"}
	j.AddSystem("alexandria", "/a/alexandria.asd")
	j.Add(&Entry{Keys: []string{"(:FUNCTION . F)", "(:FUNCTION . G)"}, Text: "(progn (defun f ()) (defun g ()))", Package: "SHOP", Took: time.Millisecond, Order: 7})
	j.Add(&Entry{Keys: []string{"(:VARIABLE . *V*)"}, Text: "(defvar *v* \"ä\")", Package: "SHOP", Runs: true})
	j.Add(&Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "(defun f () 2)", Package: "SHOP"})
	j.Lose("(:FUNCTION . LOST)", "no source")
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	back := new(Journal)
	if err := json.Unmarshal(text, back); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for range 2 {
		if got, want := back.Source("x.lisp", now), j.Source("x.lisp", now); got != want {
			t.Errorf("it is\n%s\nand was\n%s", got, want)
		}
		if d, s := back.Counts(); d != 3 || s != 1 {
			t.Errorf("it has %d definitions and %d systems", d, s)
		}
		for _, j := range []*Journal{j, back} {
			j.Undefine("(:FUNCTION . G)")
			j.Add(&Entry{Keys: []string{"(:FUNCTION . G)"}, Text: "(defun g () 3)", Package: "SHOP"})
		}
		if len(back.All()) != len(j.All()) || back.bytes != j.bytes || back.live != j.live {
			t.Errorf("it has %d entries and %d bytes, and had %d and %d", back.live, back.bytes, j.live, j.bytes)
		}
	}
}
