package lisp

import (
	"fmt"
	"testing"
)

// The graph of an event has what can be seen of a profile, and has bounds.
func TestProfileGraph(t *testing.T) {
	t.Parallel()
	p := &Profile{Frames: []ProfileFrame{{Function: "form"}, {Function: "F"}, {Function: "G"}}}
	if p.graph("CPU") != nil {
		t.Error("there is a graph without stacks")
	}
	p.Stacks = []ProfileStack{{Samples: 1, Frames: []int{0, 1}}, {Samples: 600, Frames: []int{0, 2}}, {Samples: 399, Frames: []int{0, 1, 2}}}
	g := p.graph("CPU")
	form := g.Root.Above[0]
	if g.Root.Samples != 1000 || form.Samples != 1000 || len(form.Above) != 2 || form.Above[0].Function != "G" || form.Above[1].Samples != 400 || form.Above[1].Above[0].Samples != 399 {
		t.Errorf("the graph is %+v", g.Root)
	}
	deep := &Profile{}
	for i := range 3000 { // each is alone, or deep
		deep.Frames = append(deep.Frames, ProfileFrame{Function: fmt.Sprint(i)})
		stack := ProfileStack{Samples: 10}
		for j := range 200 {
			stack.Frames = append(stack.Frames, i*min(j, 1))
		}
		deep.Stacks = append(deep.Stacks, stack)
	}
	depth, all := 0, 0
	for n := []*ProfileNode{deep.graph("CPU").Root}; len(n) > 0; depth++ {
		var next []*ProfileNode
		for _, one := range n {
			all++
			next = append(next, one.Above...)
		}
		n = next
	}
	if depth > graphDepth || all > graphNodes || all < 2 {
		t.Errorf("it has %d functions, %d deep", all, depth)
	}
}
