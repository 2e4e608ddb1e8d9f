//go:build !unix

package files

// None of these: what is there is looked at before it is opened.
const careful, waitless, directory = 0, 0, 0
