package mcpbridge

// tools is every tool, in the order of the documentation.
func tools() []*tool {
	return []*tool{
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
		&resetTool,
		&saveSessionTool,
		&loadSessionTool,
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

// toolset is a group of tools that serve one kind of work.
type toolset string

const (
	inCore    toolset = "core"
	inDebug   toolset = "debug"
	inInspect toolset = "inspect"
	inBuild   toolset = "build"
	inProfile toolset = "profile"
)

// toolsets is every toolset in the order of the documentation, with what its
// tools are for.
var toolsets = []struct {
	Name  toolset
	About string
}{
	{inCore, "evaluation and the session"},
	{inDebug, "an evaluation that failed"},
	{inInspect, "what is in the image"},
	{inBuild, "forms, files and tests"},
	{inProfile, "time, memory, threads"},
}
