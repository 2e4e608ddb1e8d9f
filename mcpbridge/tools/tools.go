package tools

import "strings"

// All is every tool, in the order of the documentation.
func All() []*Tool {
	return []*Tool{
		&evaluateTool,
		&backtraceTool,
		&inspectFrameTool,
		&evaluateInFrameTool,
		&invokeRestartTool,
		&returnFromFrameTool,
		&restartFrameTool,
		&stepTool,
		&abortEvaluationTool,
		&lastErrorTool,
		&listDefinitionsTool,
		&listPackagesTool,
		&loadSystemTool,
		&projectStatusTool,
		&resetTool,
		&undoTool,
		&checkpointTool,
		&saveSessionTool,
		&loadSessionTool,
		&writeDefinitionTool,
		&describeSymbolTool,
		&aproposSearchTool,
		&findDefinitionTool,
		&crossReferenceTool,
		&completeSymbolTool,
		&describeSystemTool,
		&hyperspecTool,
		&statusTool,
		&readOutputTool,
		&macroexpandTool,
		&compileFormTool,
		&compileFileTool,
		&loadFileTool,
		&runTestsTool,
		&disassembleTool,
		&syntaxTool,
		&inspectObjectTool,
		&traceFunctionTool,
		&profileCodeTool,
		&memoryReportTool,
		&listThreadsTool,
		&interruptThreadTool,
	}
}

// Set is a group of tools that serve one kind of work.
type Set string

const (
	Core    Set = "core"
	Debug   Set = "debug"
	Inspect Set = "inspect"
	Build   Set = "build"
	Profile Set = "profile"
)

// Sets is every toolset in the order of the documentation, with what its
// tools are for.
var Sets = []struct {
	Name  Set
	About string
}{
	{Core, "evaluation and the session"},
	{Debug, "an evaluation that failed"},
	{Inspect, "what is in the image"},
	{Build, "forms, files and tests"},
	{Profile, "time, memory, threads"},
}

// SameName accepts evaluate_lisp for evaluate-lisp, in any case.
func SameName(name, given string) bool {
	return strings.EqualFold(name, strings.ReplaceAll(given, "_", "-"))
}

// Find returns the tool of that name, or nil.
func Find(name string) *Tool {
	for _, t := range All() {
		if SameName(t.Name, name) {
			return t
		}
	}
	return nil
}
