package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// editKinds names the edits: a function gets another text in its file; a file loses a function; a
// macro gets another expansion in its file; and an evaluation gives a function another text.
var editKinds = []string{"edited", "removed", "macro", "live"}

// edit holds what a session has said after an edit: what it has Missed, and what it has said
// Also, which the edit does not bring about. Without a Name nothing could be edited so.
type edit struct {
	Kind         string
	Name, File   string   `json:",omitempty"`
	Missed, Also []string `json:",omitempty"`
	Ended        string   `json:",omitempty"` // why it was not done to its end
}

func (e edit) wrong() bool { return len(e.Missed)+len(e.Also) > 0 }

func (e edit) verdict() string {
	text := "told"
	switch {
	case len(e.Missed) > 0:
		text = "missed: " + e.Missed[0]
	case len(e.Also) > 0:
		text = "also: " + e.Also[0]
	case e.Ended != "":
		return e.Ended
	case e.Name == "":
		return "none to choose"
	}
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return text
}

// holds enters lines, told by step, into e: one must match want, if there is one, and others may
// only tell what the edit brings about.
func (e *edit) holds(step string, lines []string, want string) {
	name := regexp.QuoteMeta(e.Name)
	follows := regexp.MustCompile(`^- .* compiled before (?:\S+, )*` + name + `(?:, \S+)* changed; a fresh image compiles (?:it|them) otherwise$`)
	seen := want == ""
	for _, line := range lines {
		switch {
		case !seen && regexp.MustCompile(want).MatchString(line):
			seen = true
		case !follows.MatchString(line):
			e.Also = append(e.Also, step+": "+line)
		}
	}
	if !seen {
		e.Missed = append(e.Missed, step+": "+want)
	}
}

// editAll edits the copy of lib in each way, each in a session of its own.
func (l lab) editAll(lib library, project string) (all []edit, err error) {
	for _, kind := range editKinds {
		e := edit{Kind: kind}
		if err := l.inCopy(lib, project, func(v visit) error { return l.editOne(lib, project, v, &e) }); errors.Is(err, context.DeadlineExceeded) {
			e.Ended = l.notEnded()
		} else if errors.Is(err, errNotAgain) {
			e = edit{Kind: kind, Ended: errNotAgain.Error()}
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// editOne chooses a definition, edits it, and enters what is said into e.
func (l lab) editOne(lib library, project string, v visit, e *edit) error {
	if _, _, err := v.load(false); err != nil {
		return err
	}
	chosen, err := l.candidates(lib, project, v, e.Kind)
	if err != nil {
		return err
	}
	for _, d := range chosen[:min(len(chosen), 5)] {
		place, err := filepath.Rel(project, d.file)
		if err != nil {
			return err
		}
		t := trial{visit: v, lab: l, lib: lib, project: project, d: d, place: place, e: e}
		if done, err := t.run(); done || err != nil {
			return err
		}
	}
	return nil
}

// trial is an edit of a definition that is being made.
type trial struct {
	visit
	lab     lab
	lib     library
	project string
	d       definition
	place   string // its file, in the project
	e       *edit
}

// run makes the edit, and reports whether that could be made.
func (t trial) run() (bool, error) {
	name, place := regexp.QuoteMeta(t.d.name), regexp.QuoteMeta(t.place)
	switch t.e.Kind {
	case "edited":
		return true, t.inFile(t.d.edited(), `^- `+place+` has changed since it was loaded: `+name+` differs$`, "")
	case "removed":
		return t.ifPlainLoads("", `^- `+name+` is in the image only, `+place+` has it no more(?:; .* calls? it)?$`)
	case "macro":
		return t.ifPlainLoads(t.d.wrapped(), "")
	}
	return t.live(`^- ` + name + `: an evaluation made it other than ` + place + `:\d+ has it$`)
}

// write puts form into the file, in the place of the definition.
func (t trial) write(form string) error {
	return os.WriteFile(t.d.file, []byte(t.d.with(form)), 0o644)
}

// restore puts the file back as it was.
func (t trial) restore() error { return os.WriteFile(t.d.file, []byte(t.d.text), 0o644) }

// ifPlainLoads does as inFile, if a plain SBCL loads the library with form in its file.
func (t trial) ifPlainLoads(form, loaded string) (bool, error) {
	if err := t.write(form); err != nil {
		return false, err
	}
	ok, err := t.lab.loads(t.lib, t.project)
	if err != nil || !ok {
		return false, errors.Join(err, t.restore())
	}
	return true, t.inFile(form, "", loaded)
}

// inFile puts form into the file, loads that, puts the file back, and loads that. Told is what
// must be said before form is loaded, "" if nobody asks, and loaded what must be said then.
func (t trial) inFile(form, told, loaded string) (err error) {
	t.e.Name, t.e.File = t.d.name, t.place
	defer func() { err = errors.Join(err, t.restore()) }()
	if err := t.write(form); err != nil {
		return err
	}
	if told != "" {
		if err := t.statusHolds("before it is loaded", told); err != nil {
			return err
		}
	}
	if err := t.loadHolds("loaded", loaded); err != nil {
		return err
	}
	if err := t.restore(); err != nil {
		return err
	}
	return t.loadHolds("loaded as it was", "")
}

// live evaluates the definition with another text, and then as it was. It reports whether the
// session reads the text.
func (t trial) live(told string) (bool, error) {
	evaluate := func(form string) (bool, error) {
		r, err := t.call("evaluate-lisp", map[string]any{"code": form, "package": t.d.pack})
		return err == nil && !r.IsError, err
	}
	if done, err := evaluate(t.d.edited()); err != nil || !done {
		return false, err
	}
	t.e.Name, t.e.File = t.d.name, t.place
	if err := t.statusHolds("evaluated", told); err != nil {
		return false, err
	}
	if _, err := evaluate(t.d.text[t.d.begin:t.d.end]); err != nil {
		return false, err
	}
	return true, t.statusHolds("evaluated as it was", "")
}

// errNotAgain says that a library cannot be edited in an image that has it.
var errNotAgain = errors.New("plain SBCL does not load it again")

// loadHolds loads the system: the lines of the reply must name what is edited. Then it asks for
// the status. The error is errNotAgain if loading fails as it does in a plain SBCL.
func (t trial) loadHolds(step, want string) error {
	lines, failed, err := t.load(false)
	if err != nil {
		return err
	}
	if failed {
		if ok, err := t.lab.loads(t.lib, t.project, loadByForce(t.lib)); err != nil {
			return err
		} else if !ok {
			return errNotAgain
		}
	}
	for _, line := range lines {
		if !tokenOf(t.d.name).MatchString(line) {
			t.e.Also = append(t.e.Also, step+", load-system: "+line)
		}
	}
	return t.statusHolds(step, want)
}

func (t trial) statusHolds(step, want string) error {
	lines, _, _, err := t.status()
	if err == nil {
		t.e.holds(step, lines, want)
	}
	return err
}

// evaluate returns the reply to code that has no error.
func (v visit) evaluate(code string) (string, error) {
	r, err := v.call("evaluate-lisp", map[string]any{"code": code})
	if err == nil && r.IsError {
		err = errors.New(r.Text())
	}
	return r.Text(), err
}

// loadedFiles prints the source files of the loaded systems that are in a directory.
const loadedFiles = `(labels ((walk (component)
  (typecase component
    (asdf:module (mapc #'walk (asdf:component-children component)))
    (asdf:cl-source-file
     (when (asdf::component-operation-time (asdf:make-operation 'asdf:load-op) component)
       (let ((file (sb-ext:native-namestring (truename (asdf:component-pathname component)))))
         (when (eql 0 (search %q file)) (format t "~&file ~A~%%" file))))))))
 (dolist (name (asdf:already-loaded-systems)) (walk (asdf:find-system name))))`

// defined prints the numbers of those of ((NUMBER PACKAGE NAME) ...) that are a macro, or a function.
const defined = `(loop for (number pack name) in '(%s)
  for package = (find-package pack)
  for symbol = (and package (find-symbol name package))
  when (and symbol (fboundp symbol)
            (if (macro-function symbol) %s (and (not %[2]s) (not (typep (fdefinition symbol) 'generic-function)))))
    do (format t "~&number ~D~%%" number))`

var (
	fileLine   = regexp.MustCompile(`(?m)^file (.*)$`)
	numberLine = regexp.MustCompile(`(?m)^number (\d+)$`)
)

// candidates returns what may be edited so, in the order of the seed: definitions of the loaded
// files of the project that the image has.
func (l lab) candidates(lib library, project string, v visit, kind string) ([]definition, error) {
	said, err := v.evaluate(fmt.Sprintf(loadedFiles, project+"/"))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	var files []string
	for _, m := range fileLine.FindAllStringSubmatch(said, -1) {
		if data, err := os.ReadFile(m[1]); err == nil && texts[m[1]] == "" {
			texts[m[1]] = string(data)
			files = append(files, m[1])
		}
	}
	slices.Sort(files)
	operator, macro := "defun", "nil"
	if kind == "macro" {
		operator, macro = "defmacro", "t"
	}
	if files == nil {
		return nil, fmt.Errorf("none of its files is loaded: %s", said)
	}
	var all []definition
	for _, file := range files {
		for _, d := range definitions(file, texts[file], operator) {
			if kind != "removed" || !needed(d, texts) {
				all = append(all, d)
			}
		}
	}
	hash := fnv.New64()
	fmt.Fprint(hash, lib.name, kind)
	rand.New(rand.NewPCG(l.seed, hash.Sum64())).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), 30)]
	asked := ""
	for i, d := range all {
		asked += fmt.Sprintf("(%d %q %q)\n", i, d.pack, d.name)
	}
	if said, err = v.evaluate(fmt.Sprintf(defined, asked, macro)); err != nil {
		return nil, err
	}
	var there []definition
	for _, m := range numberLine.FindAllStringSubmatch(said, -1) {
		i, err := strconv.Atoi(m[1])
		if err != nil || i >= len(all) {
			return nil, fmt.Errorf("candidates: %q", m[0])
		}
		there = append(there, all[i])
	}
	return there, nil
}

// needed reports whether another file names d.
func needed(d definition, texts map[string]string) bool {
	for file, text := range texts {
		if file != d.file && mentions(text, d.name) {
			return true
		}
	}
	return false
}
