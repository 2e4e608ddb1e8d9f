package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// buildTestCore builds the core for p's image and returns the build's result.
func buildTestCore(t *testing.T, p *Process) error {
	t.Helper()
	return p.BuildCore(await.Context(t))
}

// compiledOnce is done when the cache of all tests has the fasls.
var compiledOnce sync.Once

// coreConfig is testConfig with cores, in a cache of the test's own that has
// the fasls already.
func coreConfig(t *testing.T) Config {
	t.Helper()
	c := testConfig(t)
	compiledOnce.Do(func() { startTest(t, c).Close(context.Background()) })
	own := t.TempDir()
	// Fasls of Swank appear at once. What else is there, other tests are just writing.
	fasls, err := filepath.Glob(filepath.Join(c.CacheDir, "swank-*"))
	if err != nil || len(fasls) == 0 {
		t.Fatalf("fasls of Swank in %s: %q, %v", c.CacheDir, fasls, err)
	}
	if out, err := exec.Command("cp", append(append([]string{"-a"}, fasls...), own)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.CacheDir, c.NoCore = own, false
	return c
}

func leftovers(t *testing.T, c Config) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.CacheDir, "tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestCore(t *testing.T) {
	c := coreConfig(t)
	p := startTest(t, c)
	if !p.WantsCore() {
		t.Fatal("wants no core")
	}
	begin := time.Now()
	// Two servers at once.
	other := make(chan error)
	go func() { other <- p.BuildCore(t.Context()) }()
	if err := errors.Join(p.BuildCore(t.Context()), <-other); err != nil {
		t.Fatal(err)
	}
	t.Logf("two cores in %v", time.Since(begin))
	if left := leftovers(t, c); len(left) > 0 {
		t.Errorf("left in the cache: %q", left)
	}

	var total time.Duration
	const starts = 10
	home(t, `(defparameter cl-user::*mine* 42)`)
	c.NoUserInit = false
	for range starts {
		begin := time.Now()
		q, err := Start(t.Context(), c, testCode(""))
		if err != nil {
			t.Fatal(err)
		}
		total += time.Since(begin)
		if !q.fromCore || !q.status.Core || q.WantsCore() {
			t.Errorf("from core %v, status %+v", q.fromCore, q.status)
		}
		if got := eval(t, q, "(cl:list swank-mcp::*warm* cl-user::*mine*)"); got != "(:return (:ok (t 42)) 1)" {
			t.Errorf("got %s", got)
		}
		if got := q.Background(); !got.Empty() {
			t.Errorf("printed: %q", got.Head)
		}
		q.Close(t.Context())
	}
	t.Logf("start to ready from the core: %v (mean of %d, with an init file)", total/starts, starts)
}

// What must work in an image from a core as in one without.
func TestCoreImageBehaves(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := coreConfig(t)
	if err := buildTestCore(t, startTest(t, c)); err != nil {
		t.Fatal(err)
	}
	p := startTest(t, c)
	if !p.fromCore {
		t.Fatalf("not from the core: %q", p.notes)
	}
	for form, want := range map[string]string{
		`(cl:progn (sb-thread:make-thread (cl:lambda () (cl:error "late trouble"))) (cl:sleep 0.3) 1)`:                                                                "(:ok 1)",
		`(cl:let ((n 0)) (cl:dotimes (i 4 n) (sb-thread:join-thread (sb-thread:make-thread (cl:lambda () (cl:labels ((r (n) (cl:1+ (r n)))) (r 0)))) :default nil)))`: "(:ok 0)",
		`(cl:with-output-to-string (s) (sb-ext:run-program "/bin/ls" '("/proc/self/fd") :output s))`:                                                                  "(:ok \"0\n1\n2\n3\n\")",
		`(cl:namestring (cl:truename "."))`:          cwd(t),
		`(cl:namestring (cl:user-homedir-pathname))`: os.Getenv("HOME"),
		`(cl:progn (cl:require :asdf) (cl:princ-to-string (cl:funcall (cl:find-symbol "RUN-PROGRAM" "UIOP") "echo lambda λ" :output :string)))`: "lambda λ",
		`(cl:length cl:*features*)`:          "(:ok ",
		`(cl:- (sb-ext:dynamic-space-size))`: fmt.Sprint(-c.HeapMB << 20),
	} {
		if got := eval(t, p, form); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
	_ = p.lifetime.Close()
	await.True(t, "the image to end with its lifetime pipe", p.HasExited)
}

func cwd(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBrokenCoreIsReplaced(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	c := coreConfig(t)
	p := startTest(t, c)
	if err := buildTestCore(t, p); err != nil {
		t.Fatal(err)
	}
	core := p.image.corePath()
	whole, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	noise := append([]byte(nil), whole...)
	for i := len(noise) / 3; i < len(noise)/3+1<<20; i++ {
		noise[i] ^= 0x5a
	}
	for name, data := range map[string][]byte{"short": whole[:len(whole)/2], "text": []byte("no core"), "noise": noise} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(core) // it may be mapped by an image
			if err := os.WriteFile(core, data, 0o600); err != nil {
				t.Fatal(err)
			}
			p := startTest(t, c)
			if p.fromCore && eval(t, p, "(cl:+ 1 2)") == "(:return (:ok 3) 1)" {
				t.Skip("this damage does not matter")
			}
			if notes := strings.Join(p.notes, "\n"); !strings.Contains(notes, "cached core did not start") {
				t.Errorf("notes %q", notes)
			}
			if _, err := os.Stat(core); err == nil {
				t.Error("the broken core is still there")
			}
			if !p.WantsCore() {
				t.Error("wants no new core")
			}
			if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestUnwritableCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	c := testConfig(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.CacheDir, c.NoCore = filepath.Join(file, "cache"), false
	p := startTest(t, c)
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
	if notes := strings.Join(p.notes, "\n"); !strings.Contains(notes, "Nothing is cached") || !strings.Contains(notes, file) {
		t.Errorf("notes %q", notes)
	}
	if p.WantsCore() {
		t.Error("wants a core")
	}
}

func TestStoppedCoreBuildLeavesNothing(t *testing.T) {
	t.Parallel()
	c := coreConfig(t)
	p := startTest(t, c)
	some := func(pattern string) func() bool {
		return func() bool {
			names, err := filepath.Glob(filepath.Join(c.CacheDir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			return len(names) > 0
		}
	}
	for what, far := range map[string]func() bool{
		"it begins":                func() bool { return true },
		"it has a directory":       some("tmp-core-*"),
		"the image saves the core": some("tmp-core-*/" + coreName),
	} {
		ctx, stop := context.WithCancel(t.Context())
		built := make(chan error, 1)
		go func() { built <- p.BuildCore(ctx) }()
		await.True(t, what, far)
		stop()
		if err := await.From(t, "the end of the build", built); !errors.Is(err, context.Canceled) && (err != nil || !p.image.hasCore()) { // it may be done just then
			t.Errorf("stopped when %s: %v", what, err)
		}
		if left := leftovers(t, c); len(left) > 0 {
			t.Errorf("left in the cache: %q", left)
		}
	}
}

func TestBrokenFaslsAreReplaced(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	c := coreConfig(t)
	p := startTest(t, c)
	fasls, _ := filepath.Glob(filepath.Join(p.image.faslDir(), "*.fasl"))
	if len(fasls) == 0 {
		fasls, _ = filepath.Glob(filepath.Join(p.image.faslDir(), "*", "*.fasl"))
	}
	if len(fasls) == 0 {
		t.Fatal("no fasls")
	}
	ours, _ := filepath.Glob(filepath.Join(p.image.imageDir(), "*.fasl"))
	if len(ours) != 2 {
		t.Fatalf("compiled: %q", ours)
	}
	for _, name := range append(fasls, ours...) {
		if err := os.WriteFile(name, []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	q := startTest(t, c)
	if got := eval(t, q, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
	r := startTest(t, c) // and then with what was compiled anew
	t.Logf("notes %q, then %q", q.notes, r.notes)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &imageFiles{cacheDir: dir}
	old := time.Now().Add(-2 * time.Hour)
	for i, name := range []string{
		"image-0000000000000001", "image-0000000000000002", "image-0000000000000003", "image-of-my-cat",
		"swank-0000000000000001", "swank-0000000000000002", "swank-0000000000000003",
		"tmp-core-1", "tmp-swank-2", "tmp-mine",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		stamp := old.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, name), stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp-core-7"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.prune()
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := "image-0000000000000002 image-0000000000000003 image-of-my-cat swank-0000000000000002 swank-0000000000000003 tmp-core-7 tmp-mine"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("left\n%s, want\n%s", got, want)
	}
}

// What servers of other versions have used just now stays, up to a bound; it is removed when
// nobody has used it for long.
func TestPruneLeavesWhatOthersUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &imageFiles{cacheDir: dir}
	left := func(want ...int) {
		t.Helper()
		f.prune()
		for kind, want := range map[string]int{"image": want[0], "swank": want[1], "project": want[2]} {
			found, err := filepath.Glob(filepath.Join(dir, kind+"-*"))
			if err != nil || len(found) != want {
				t.Errorf("of the kind %s are left %d, want %d: %q", kind, len(found), want, found)
			}
		}
	}
	used := func(n int, ago time.Duration) {
		t.Helper()
		for _, kind := range []string{"image", "swank", "project"} {
			for i := range n {
				name := filepath.Join(dir, fmt.Sprintf("%s-%016x", kind, i))
				stamp := time.Now().Add(-ago)
				if err := errors.Join(os.MkdirAll(name, 0o700), os.Chtimes(name, stamp, stamp)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	used(6, 0)
	left(6, 6, 6)
	used(30, 0)
	left(keepUsed*keepImages, keepUsed*keepFasls, keepUsed*keepProjects)
	used(30, 2*usedAfter)
	left(keepImages, keepFasls, keepProjects)
}
