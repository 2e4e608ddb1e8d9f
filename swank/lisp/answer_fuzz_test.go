package lisp

import (
	"testing"

	"swank-mcp/swank/lisp/helper"
)

// Whatever a program makes its image answer, the bridge learns from it, and goes on.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		`(:values (("3")) :package "COMMON-LISP-USER" :costs (1 2 3 4))`,
		`(:loaded (()) :package "COMMON-LISP-USER")`,
		`(:loaded (("alexandria" "/a.asd") ("alexandria")) :gone ("(:SYSTEM . \"alexandria\")" "x"))`,
		`(:threads ((-7 "" "T" "m") (-8 "élan" "T" "") (8 "x" "" "")))`,
		`(:journal ((() "x" "P" 0 nil nil 1) (("(:FUNCTION . F)" "") "x" "P" -1 t t 2) (("(:FUNCTION . F)") "y" "P" 0 nil nil 0)) :lost (("" "") ("(:FUNCTION . F)" "why")))`,
		`(:error (:kind :error :type "T" :message "m" :frames ("0: f") :more -1 :instead ("a") :frame 9) :suspended (:frames nil))`,
		`(:error (:kind :timeout :instead ("a" "b")) :redefined (:names nil) :warnings (nil) :values (nil ("a" 3)))`,
	} {
		f.Add(text)
	}
	im := New(Config{})
	f.Fuzz(func(t *testing.T, text string) {
		var a wireAnswer
		if helper.Decode(text, &a) != nil {
			return
		}
		a.More = false // no image could be asked for it
		s := &Session{im: im, name: "s"}
		e := &evaluation{s: s, im: im, inst: &instance{}, job: &job{}}
		e.remember(&a)
		a.result()
		for _, news := range s.meet(e.inst, a.Threads) {
			if news == "" {
				t.Error("there is empty news")
			}
		}
		for _, entry := range s.journal.All() {
			if len(entry.Keys) == 0 {
				t.Errorf("an entry without a key: %+v", entry)
			}
		}
	})
}
