// Package stdiotest has lines that no client should send, for tests.
package stdiotest
