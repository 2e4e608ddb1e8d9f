//go:build unix

package harness

const ResetText = "Session reset. All definitions cleared.\nCurrent package: CL-USER"
