package lisp

import "testing"

// An entry that stands twice is lost only if it failed twice.
func TestRestoredOnceIsEnough(t *testing.T) {
	early, late, never := &entry{text: "early"}, &entry{text: "late"}, &entry{text: "never"}
	done, why := map[*entry]bool{}, map[*entry]string{}
	note([]*entry{early, late, never}, []wireFailure{{Index: 1, Why: "too soon"}, {Index: 2, Why: "no"}}, done, why)
	if why[late] != "too soon" {
		t.Errorf("after one batch: %v", why)
	}
	note([]*entry{early, late, never}, []wireFailure{{Index: 0, Why: "again"}, {Index: 2, Why: "never"}}, done, why)
	if len(why) != 1 || why[never] != "never" {
		t.Errorf("after both: %v", why)
	}
}
