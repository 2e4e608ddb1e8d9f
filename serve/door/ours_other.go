//go:build !unix

package door

import "io/fs"

// ours believes that the directories of a user are theirs alone: the mode of a file says
// nothing here.
func ours(fs.FileInfo) bool { return true }

// nobodyListens believes every error: which one says so differs between systems.
func nobodyListens(error) bool { return true }
