package lisp

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What an image uses of the processor that was started for one call is counted with the
// session's, while it runs and when it has ended.
func TestFreshIsCounted(t *testing.T) {
	tier.More(t)
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"burns.asd":  `(defsystem "burns" :components ((:file "burns")))`,
		"burns.lisp": `(let ((end (+ (get-internal-run-time) 2000000))) (loop while (< (get-internal-run-time) end)))`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	im := imageOf(t, Config{Launch: launched(t)})
	im.WorkIn(dir)
	mustEval(t, im, "1")
	if beside := im.Uses(false).Beside; beside != 0 {
		t.Errorf("before it is %v", beside)
	}
	over := make(chan error, 1)
	go func() {
		f, err := im.Session("default").Fresh(t.Context(), "burns", false, "", Request{Timeout: time.Minute, Debug: 1})
		if err == nil && f.Result.Failure != nil {
			t.Errorf("the run: %+v", f.Result.Failure)
		}
		over <- err
	}()
	meanwhile := time.Duration(0)
	for {
		select {
		case err := <-over:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Millisecond):
			meanwhile = max(meanwhile, im.Uses(false).Beside)
			continue
		}
		break
	}
	var beside time.Duration
	if await.Until(func() bool { beside = im.Uses(false).Beside; return beside >= 2*time.Second }) != nil || meanwhile < time.Second {
		t.Errorf("while it ran %v, and then %v", meanwhile, beside)
	}
}
