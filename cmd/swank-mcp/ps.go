package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"swank-mcp/people/control"
)

// ps lists the servers of this user that run.
func (c *command) ps(ctx context.Context) error {
	all := c.running(ctx)
	if c.json {
		return c.psJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.stdout, "No server runs.")
		return nil
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tPROJECT\tCLIENT\tIMAGE\tHEAP\tSESSION")
	for _, r := range all {
		if r.err != nil {
			fmt.Fprintf(w, "%s\thas not answered within %v\n", r.ID, control.StatusPatience)
			continue
		}
		st := r.status
		first := strings.Join([]string{r.ID, shortDirs(r.dirs()), cmp.Or(oneLine(strings.Join(st.Clients, ", ")), "-"), imageText(st.Image), heapText(st.Image)}, "\t")
		for _, s := range sessionTexts(st) {
			fmt.Fprintf(w, "%s\t%s\n", first, s)
			first = "\t\t\t\t"
		}
	}
	return w.Flush()
}

// psJSON prints a line for each server; one that does not answer has its ID and the error.
func (c *command) psJSON(all []*running) error {
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	for _, r := range all {
		var line any = r.status
		if r.err != nil {
			line = map[string]string{"id": r.ID, "error": r.err.Error()}
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// shortDirs are the directories with ~ for the home.
func shortDirs(dirs []string) string {
	home, _ := os.UserHomeDir()
	var short []string
	for _, dir := range dirs {
		if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok && home != "" {
			dir = filepath.Join("~", rest)
		}
		short = append(short, oneLine(dir))
	}
	return cmp.Or(strings.Join(short, ", "), "-")
}

func imageText(i control.Image) string {
	if i.PID == 0 && i.Implementation == "" {
		return i.State
	}
	text := oneLine(i.Implementation)
	if i.PID != 0 {
		text += fmt.Sprintf(", pid %d", i.PID)
	}
	if !i.Launched {
		text += ", attached"
	}
	return text
}

func heapText(i control.Image) string {
	switch {
	case i.HeapLimit > 0:
		return fmt.Sprintf("%d of %d MB", i.HeapUsed>>20, i.HeapLimit>>20)
	case i.Silent != "":
		return "?"
	}
	return "-"
}

// sessionTexts are the sessions with what each does, at least one line.
func sessionTexts(st *control.Status) (texts []string) {
	for _, s := range st.Sessions {
		var does []string
		if s.Running != nil {
			does = append(does, workText(*s.Running))
		}
		for _, j := range s.Jobs {
			does = append(does, fmt.Sprintf("job-%d %s", j.Number, workText(j)))
		}
		for _, e := range s.Suspended {
			does = append(does, fmt.Sprintf("%d suspended at %s", e.Number, oneLine(e.Failure)))
		}
		if s.Waiting > 0 {
			does = append(does, fmt.Sprintf("%d waiting", s.Waiting))
		}
		texts = append(texts, oneLine(s.Name)+": "+cmp.Or(strings.Join(does, "; "), "idle"))
	}
	if len(texts) == 0 {
		texts = append(texts, "-")
	}
	if st.Paused {
		texts = append(texts, fmt.Sprintf("paused: swank-mcp resume %s lets calls go on", st.ID))
	}
	if st.Policy != "" && st.Policy != "everything" {
		texts = append(texts, fmt.Sprintf("allowed is %s: swank-mcp allow %s everything ends that", oneLine(st.Policy), st.ID))
	}
	for _, q := range st.Questions {
		texts = append(texts, "asks "+questionText(q))
	}
	if st.Transcript.Problem != "" {
		texts = append(texts, "the transcript is not written: "+oneLine(st.Transcript.Problem))
	}
	return texts
}

// shownWork is how many characters of code are shown of what a session does.
const shownWork = 40

func workText(w control.Work) string {
	code := []rune(oneLine(w.Code))
	text := string(code)
	if len(code) > shownWork {
		text = string(code[:shownWork]) + "..."
	}
	return fmt.Sprintf("%s (%s)", text, ageText(time.Duration(w.Seconds*float64(time.Second))))
}

func ageText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
