package door

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The first start makes a token that nobody else can read; later ones take what is there.
func TestTokensAreMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "tokens")
	first, made, err := LoadTokens(path, "owner")
	if err != nil || !made {
		t.Fatalf("made: %v, %v", made, err)
	}
	if runtime.GOOS != "windows" {
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v", info.Mode())
		}
	}
	text, _ := os.ReadFile(path)
	token := strings.Fields(strings.Split(string(text), "\n")[1])[1]
	if len(token) < 43 { // 256 bits, six in a character
		t.Errorf("a token of %d characters", len(token))
	}
	for _, tokens := range []*Tokens{first, load(t, path)} {
		if who, ok := tokens.Principal(token); !ok || who != "owner" {
			t.Errorf("the token is %q's, %v", who, ok)
		}
	}
	other, _, err := LoadTokens(filepath.Join(t.TempDir(), "tokens"), "owner")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := other.Principal(token); ok {
		t.Error("two files have the same token")
	}
}

func load(t *testing.T, path string) *Tokens {
	t.Helper()
	tokens, made, err := LoadTokens(path, "nobody")
	if err != nil || made {
		t.Fatalf("made: %v, %v", made, err)
	}
	return tokens
}

// A file that others can read, or that is none of this user's, is refused, with what to do
// and without a token in the text.
func TestTokensAreRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(text string, mode os.FileMode) string {
		path := filepath.Join(dir, "tokens")
		os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, mode) // whatever the umask
		return path
	}
	secret := strings.Repeat("s3cret", 8)
	good := "# two of them\n\nanna " + secret + "\nbert " + strings.Repeat("y", 43) + "\n"
	tokens := load(t, write(good, 0o600))
	if who, ok := tokens.Principal(secret); who != "anna" || !ok {
		t.Errorf("the first is %q's", who)
	}
	for _, wrong := range []string{"", "anna", secret[1:], secret + "s", strings.ToUpper(secret), strings.Repeat("y", 42)} {
		if who, ok := tokens.Principal(wrong); ok {
			t.Errorf("%q is %q's", wrong, who)
		}
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{good, 0o640, "can be read by others (mode 0640). Next: chmod 600 "},
		{good, 0o604, "can be read by others (mode 0604). Next: chmod 600 "},
		{good, 0o660, "can be read by others"},
		{"anna\n", 0o600, "line 1 of "},
		{"anna " + secret + " more\n", 0o600, "is not PRINCIPAL TOKEN"},
		{"../anna " + secret + "\n", 0o600, "line 1 of "},
		{"anna short\n", 0o600, "fewer than 32 characters"},
		{"# nobody\n", 0o600, "has no token"},
	} {
		if runtime.GOOS == "windows" && c.mode != 0o600 {
			continue
		}
		_, _, err := LoadTokens(write(c.text, c.mode), "owner")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "short\n") {
			t.Errorf("mode %04o, %q: %v, want %q", c.mode, c.text, err, c.want)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(write(good, 0o600), link); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadTokens(link, "owner"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a link: %v", err)
	}
}

// How long a wrong token takes does not depend on how much of it is right, nor on which of
// the tokens it is like.
func TestTokensTakeTheSameTime(t *testing.T) {
	tokens := &Tokens{}
	var all []string
	for range 50 {
		all = append(all, newToken())
		tokens.add("p", all[len(all)-1])
	}
	tries := []string{
		strings.Repeat("A", len(all[0])), // none of it is right
		all[0][:len(all[0])-1] + "!",     // all but the end, of the first
		all[49][:len(all[0])-1] + "!",    // and of the last
		all[0], all[49],                  // the right ones
	}
	medians := make([]time.Duration, len(tries))
	for i := range 5 { // a machine that does something else may spoil a round
		times := make([][]time.Duration, len(tries))
		for range 3000 {
			for k, try := range tries {
				began := time.Now()
				tokens.Principal(try)
				times[k] = append(times[k], time.Since(began))
			}
		}
		for k := range tries {
			slices.Sort(times[k])
			medians[k] = times[k][len(times[k])/2]
		}
		if least, most := slices.Min(medians), slices.Max(medians); most < least*5/4+100 {
			return
		} else if i == 4 {
			t.Errorf("medians %v", medians)
		}
	}
}
