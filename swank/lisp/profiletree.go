package lisp

import (
	"cmp"
	"slices"
)

// ProfileNode is a function on the stacks of a [Profile], at one place in its tree: with the
// functions that it called there.
type ProfileNode struct {
	Function string
	Kind     FrameKind
	Samples  int64          // with what it called
	Above    []*ProfileNode // that it called, those sampled most first
}

// Tree is the stacks of p as a tree, from a root "all"; nil if there are none.
func (p *Profile) Tree() *ProfileNode {
	root := &ProfileNode{Function: "all", Kind: InternalFrame}
	for _, s := range p.Stacks {
		root.grow(p, s.Frames, s.Samples)
	}
	if root.Samples == 0 {
		return nil
	}
	root.sort()
	return root
}

// grow counts a stack, outermost first, in the tree of n.
func (n *ProfileNode) grow(p *Profile, frames []int, samples int64) {
	for n.Samples += samples; len(frames) > 0; frames = frames[1:] {
		if frames[0] < 0 || frames[0] >= len(p.Frames) { // a program may have changed what the image tells
			return
		}
		f := p.Frames[frames[0]]
		i := slices.IndexFunc(n.Above, func(a *ProfileNode) bool { return a.Function == f.Function })
		if i < 0 {
			i = len(n.Above)
			n.Above = append(n.Above, &ProfileNode{Function: f.Function, Kind: f.Kind})
		}
		n = n.Above[i]
		n.Samples += samples
	}
}

func (n *ProfileNode) sort() {
	slices.SortStableFunc(n.Above, func(a, b *ProfileNode) int { return cmp.Compare(b.Samples, a.Samples) })
	for _, a := range n.Above {
		a.sort()
	}
}

// ProfileGraph is what an event has of a profile.
type ProfileGraph struct {
	Mode string // as in [Profiling]
	Root *ProfileNode
}

// Bounds of a graph in an event. A function with fewer samples than a part in graphParts is
// too narrow to be seen.
const (
	graphNodes = 600
	graphDepth = 100
	graphName  = 200 // characters
	graphParts = 400
)

// graph is the tree of p within its bounds, or nil.
func (p *Profile) graph(mode string) *ProfileGraph {
	root := p.Tree()
	if root == nil {
		return nil
	}
	least := root.Samples/graphParts + 1
	for root.count(least, graphDepth) > graphNodes {
		least += least/4 + 1
	}
	return &ProfileGraph{Mode: mode, Root: root.bounded(least, graphDepth)}
}

// count is how many functions bounded keeps.
func (n *ProfileNode) count(least int64, depth int) int {
	all := 1
	for _, a := range n.Above {
		if a.Samples >= least && depth > 1 {
			all += a.count(least, depth-1)
		}
	}
	return all
}

func (n *ProfileNode) bounded(least int64, depth int) *ProfileNode {
	b := &ProfileNode{Function: cutString(n.Function, graphName), Kind: n.Kind, Samples: n.Samples}
	for _, a := range n.Above {
		if a.Samples >= least && depth > 1 {
			b.Above = append(b.Above, a.bounded(least, depth-1))
		}
	}
	return b
}
