package sandbox

import (
	"testing"

	"golang.org/x/net/bpf"
)

// Each filter can be assembled for this processor, also without a file system of its own and
// with ports: a name of a system call that the library does not know would be an error.
func TestFiltersAssemble(t *testing.T) {
	for _, p := range []*policy{{}, {NewRoot: true}, {Ports: []int{443}}, {NewRoot: true, Ports: []int{443}}} {
		filters, err := filtersFor(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range filters {
			program, err := filters[i].Assemble()
			if err != nil {
				t.Fatalf("filter %d of %+v: %v", i, p, err)
			}
			if raw, err := bpf.Assemble(program); err != nil || len(raw) > 4096 {
				t.Errorf("filter %d of %+v: %d instructions, %v", i, p, len(raw), err)
			}
		}
	}
}
