package mcpbridge

import (
	"fmt"
	"strings"
)

// listing is a tool and where it belongs.
type listing struct {
	tool *tool
	set  toolset
}

// listed is every tool with its toolset, in the order of the documentation.
// The tools shown without being asked for are named in defaults.
func listed() []listing {
	return []listing{
		{&evaluateTool, inCore},
		{&backtraceTool, inDebug},
		{&inspectFrameTool, inDebug},
		{&evaluateInFrameTool, inDebug},
		{&invokeRestartTool, inDebug},
		{&returnFromFrameTool, inDebug},
		{&restartFrameTool, inDebug},
		{&stepTool, inDebug},
		{&abortEvaluationTool, inDebug},
		{&lastErrorTool, inDebug},
		{&listDefinitionsTool, inCore},
		{&listPackagesTool, inCore},
		{&loadSystemTool, inCore},
		{&resetTool, inCore},
		{&saveSessionTool, inCore},
		{&loadSessionTool, inCore},
		{&describeSymbolTool, inInspect},
		{&aproposSearchTool, inInspect},
		{&findDefinitionTool, inInspect},
		{&crossReferenceTool, inInspect},
		{&completeSymbolTool, inInspect},
		{&describeSystemTool, inInspect},
		{&hyperspecTool, inInspect},
		{&statusTool, inCore},
		{&readOutputTool, inCore},
		{&macroexpandTool, inBuild},
		{&compileFormTool, inBuild},
		{&compileFileTool, inBuild},
		{&loadFileTool, inBuild},
		{&runTestsTool, inBuild},
		{&disassembleTool, inBuild},
		{&syntaxTool, inBuild},
		{&inspectObjectTool, inInspect},
		{&traceFunctionTool, inProfile},
		{&profileCodeTool, inProfile},
		{&memoryReportTool, inProfile},
		{&listThreadsTool, inProfile},
		{&interruptThreadTool, inProfile},
	}
}

// tools is every tool, in the order of the documentation.
func tools() (out []*tool) {
	for _, l := range listed() {
		out = append(out, l.tool)
	}
	return out
}

// ToolTable is the table of all tools in Markdown, as the README shows it:
// name with arguments, the first sentence of the description, the toolset, in
// brackets where the tool is not shown by default, and what the tool changes.
// Optional arguments are in brackets.
func ToolTable() string {
	var b strings.Builder
	b.WriteString("| Tool | What it does | Toolset | Changes the image |\n| --- | --- | --- | --- |\n")
	o := Options{}
	o.setDefaults()
	for _, l := range listed() {
		t := l.tool
		var names []string
		for _, p := range t.params(&o) {
			if p.hidden {
				continue
			}
			name := "`" + p.name + "`"
			if !p.required {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		cell := "**`" + t.name + "`**"
		if len(names) > 0 {
			cell += "<br>" + strings.Join(names, " ")
		}
		first, _, _ := strings.Cut(t.doc, ". ")
		changes := "yes"
		if t.readOnly {
			changes = "no"
		}
		set := string(l.set)
		if !(Selection{}).names(&l) {
			set = "(" + set + ")"
		}
		fmt.Fprintf(&b, "| %s | %s. | %s | %s |\n", cell, strings.ReplaceAll(strings.TrimSuffix(first, "."), "|", `\|`), set, changes)
	}
	return b.String()
}
