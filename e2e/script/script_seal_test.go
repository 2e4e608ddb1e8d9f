package script

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var sealIn = regexp.MustCompile(`"seal": "([0-9a-f]{64})"`)

// seal FILE: a manifest of a checkpoint on the disk, which was changed, is the user's again.
func sealCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: seal FILE")
	}
	key, err := os.ReadFile(filepath.Join(ts.Getenv("HOME"), ".local/state/swank-mcp/checkpoints.key"))
	ts.Check(err)
	text := []byte(ts.ReadFile(args[0]))
	found := sealIn.FindSubmatch(text)
	if found == nil {
		ts.Fatalf("%s has no seal", args[0])
	}
	zeros := strings.Repeat("0", 64)
	text = bytes.Replace(text, found[1], []byte(zeros), 1)
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	text = bytes.Replace(text, []byte(zeros), []byte(hex.EncodeToString(mac.Sum(nil))), 1)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
