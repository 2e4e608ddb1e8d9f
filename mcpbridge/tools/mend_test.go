package tools

import (
	"testing"

	"swank-mcp/mcpbridge/args"
)

func TestMendedCall(t *testing.T) {
	tests := []struct {
		tool *Tool
		raw  string
		want string // without "Next: " and the tool's name
	}{
		{&evaluateTool, `{}`, `{"code": "(+ 1 2)"}`},
		{&evaluateTool, `{"form": "(f 1)"}`, `{"code": "(f 1)"}`},
		{&evaluateTool, `{"expression": "(f 1)", "packge": "app"}`, `{"code": "(f 1)", "package": "app"}`},
		{&evaluateTool, `{"code": "1", "lang": "lisp"}`, `{"code": "1"}`},
		{&evaluateTool, `{"code": "1", "timeout": "5s"}`, `{"code": "1", "timeout": 5}`},
		{&evaluateTool, `{"code": "1", "timeout": 0}`, `{"code": "1"}`},
		{&evaluateTool, `{"code": "1", "timeout": 100000}`, `{"code": "1", "timeout": 600}`},
		{&evaluateTool, `{"code": "1", "timeout_ms": 900000}`, `{"code": "1", "timeout": 600}`},
		{&evaluateTool, `{"code": "1", "timeout": {}}`, `{"code": "1"}`},
		{&evaluateTool, `{"code": "1", "debug": 9}`, `{"code": "1", "debug": 3}`},
		{&evaluateTool, `{"code": "1", "debug": "high"}`, `{"code": "1"}`},
		{&evaluateTool, `{"code": "1", "debug": 1.6}`, `{"code": "1", "debug": 2}`},
		{&evaluateTool, `{"code": "1", "capture-time": 1}`, `{"code": "1", "capture-time": true}`},
		{&evaluateTool, `{"code": 42}`, `{"code": "42"}`},
		{&evaluateTool, `{"code": ["(f)", "(g)"]}`, `{"code": "(f) (g)"}`},
		{&invokeRestartTool, `{"restart": "USE-VALUE", "values": [7]}`, `{"restart": "USE-VALUE", "values": "7"}`},
		{&invokeRestartTool, `{"restart": "F", "values": ["(list 1)", 2.5]}`, `{"restart": "F", "values": "(list 1) 2.5"}`},
		{&invokeRestartTool, `{"restart": "F", "values": [[1]]}`, `{"restart": "F"}`},
		{&evaluateTool, `{"code": "\ud800"}`, `{"code": "(+ 1 2)"}`},
		{&evaluateTool, `"(+ 1 2)"`, `{"code": "(+ 1 2)"}`},
		{&evaluateTool, `{"code": "1", "package": ["app"]}`, `{"code": "1", "package": "app"}`},
		{&evaluateTool, `{"code": "1", "timeout": 5, "timeout_seconds": 6}`, `{"code": "1", "timeout": 6}`},
		{&listDefinitionsTool, `{"type": "fucntions"}`, `{"type": "functions"}`},
		{&listDefinitionsTool, `{"type": "xyzzy plugh"}`, `{"type": "functions"}`},
		{&resetTool, `{"confirm": true}`, `{}`},
	}
	for _, tt := range tests {
		a := args.Parse(tt.tool.Spec(testLimits), []byte(tt.raw))
		if a.Err == nil {
			t.Errorf("%s %s is accepted", tt.tool.Name, tt.raw)
			continue
		}
		if got, want := a.Next(), "Next: "+tt.tool.Name+" "+tt.want; got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.tool.Name, tt.raw, got, want)
		}
		if next := args.Parse(tt.tool.Spec(testLimits), []byte(tt.want)); next.Err != nil {
			t.Errorf("the next call %s is refused: %v", tt.want, next.Err)
		}
	}
}
