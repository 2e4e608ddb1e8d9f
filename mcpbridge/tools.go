package mcpbridge

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
