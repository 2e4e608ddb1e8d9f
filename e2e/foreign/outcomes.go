package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outcome holds what a session has said of a library that was copied, taken as the project,
// and loaded. Claimed are lines that name a difference, though nobody has touched a file.
type outcome struct {
	Library     string
	Ended       string `json:",omitempty"` // why it was not done to its end
	Files       string `json:",omitempty"` // how many project-status tells
	Definitions string `json:",omitempty"`
	Claimed     []string
	Edits       []edit `json:",omitempty"`
}

const noPlain = "does not load in plain SBCL"

// wrong reports whether something was said that is not so, or not said that is.
func (o *outcome) wrong() bool {
	return len(o.Claimed) > 0 || slices.ContainsFunc(o.Edits, edit.wrong)
}

// String returns a line on the library, and one on each thing that is wrong.
func (o *outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", o.Library)
	switch {
	case o.Ended != "":
		b.WriteString(o.Ended)
	case len(o.Claimed) == 0:
		fmt.Fprintf(&b, "%s files, %s definitions, nothing claimed", o.Files, o.Definitions)
	default:
		fmt.Fprintf(&b, "%d lines claimed", len(o.Claimed))
	}
	for _, e := range o.Edits {
		fmt.Fprintf(&b, "; %s: %s", e.Kind, e.verdict())
	}
	b.WriteByte('\n')
	for _, line := range o.Claimed {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, e := range o.Edits {
		for _, line := range append(slices.Clone(e.Missed), e.Also...) {
			fmt.Fprintf(&b, "  %s %s: %s\n", e.Kind, e.Name, line)
		}
	}
	return b.String()
}

// row returns the line of o in the table of outcomes.
func (o *outcome) row() string {
	claimed := fmt.Sprint(len(o.Claimed))
	if o.Ended != "" {
		claimed = o.Ended
	}
	cells := []string{o.Library, o.Files, o.Definitions, claimed}
	for _, kind := range editKinds {
		cell := ""
		for _, e := range o.Edits {
			if e.Kind == kind {
				cell = e.verdict()
			}
		}
		cells = append(cells, strings.ReplaceAll(cell, "|", "/"))
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// record keeps the outcomes of one build, so that a stopped run goes on: the first line of its
// file names the build, each other has an outcome.
type record struct {
	*os.File
	outcomes []*outcome
}

// record opens the record of this build. What is there of another one is thrown away.
func (l lab) record(edits bool) (*record, error) {
	build, err := l.build(edits)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(l.dir, "libraries.jsonl"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	r := &record{File: f}
	if err := r.read(build); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// read takes what the file has, and leaves it at its end.
func (r *record) read(build string) error {
	in, end := bufio.NewReader(r), int64(0)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF { // what has no end was being written as the run was stopped
			break
		} else if err != nil {
			return err
		}
		if end == 0 {
			if line != build+"\n" {
				break
			}
		} else {
			var o outcome
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			r.outcomes = append(r.outcomes, &o)
		}
		end += int64(len(line))
	}
	if err := r.Truncate(end); err != nil {
		return err
	}
	if _, err := r.Seek(end, io.SeekStart); err != nil || end > 0 {
		return err
	}
	_, err := r.WriteString(build + "\n")
	return err
}

// build names the programs that make the outcomes, and with what.
func (l lab) build(edits bool) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, program := range []string{l.binary, self} {
		data, err := os.ReadFile(program)
		if err != nil {
			return "", err
		}
		sum.Write(data)
	}
	return fmt.Sprintf("%x edits %v seed %d limit %v", sum.Sum(nil), edits, l.seed, l.limit), nil
}

func (r *record) add(o *outcome) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r.outcomes = append(r.outcomes, o)
	_, err = r.Write(append(data, '\n'))
	return err
}

// of returns the outcome of a library; nil if there is none.
func (r *record) of(name string) *outcome {
	for _, o := range r.outcomes {
		if o.Library == name {
			return o
		}
	}
	return nil
}

const librariesHead = "| library | files | definitions | claimed | edited | removed | macro | live |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"

// section returns the table of the outcomes for a page, and below it the libraries that a plain sbcl
// does not load.
func (r *record) section(libs []library) string {
	text, apart := librariesHead, []string(nil)
	for _, lib := range libs {
		if o := r.of(lib.name); o.Ended == noPlain {
			apart = append(apart, o.Library)
		} else {
			text += o.row()
		}
	}
	if apart != nil {
		text += "\nNot loaded by a plain `sbcl`, and so not tried: " + strings.Join(apart, ", ") + ".\n"
	}
	return text
}
