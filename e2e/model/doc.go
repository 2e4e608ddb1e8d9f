// Package model tells what a session must answer, and tries sessions at random.
//
// A [Session] knows what is defined and by whom last, the packages and what they use, the files
// of a system, the states to which one can go back, and what replies have named. A step is one
// thing that an agent does to it: it defines, edits, loads, undoes, kills. A [Property] takes
// steps, each as often as its weight says, and checks after each of them. A sequence that fails
// is made shorter by rapid and printed as a script, which TestScript takes.
//
// A property has a small number of steps and the seed 1. -model.steps, -model.sequences and
// SWANK_MCP_SEED give it others.
package model
