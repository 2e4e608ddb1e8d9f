//go:build unix

package harness

// MiniFile writes a file of the system mini.
func MiniFile(name, text string) TruthCall {
	return FileCall("mini/"+name+".lisp", "(in-package :mini)\n"+text)
}

// LoadMini loads that system.
var LoadMini = ToolCall("load-system", Object{"system": "mini"})
