//go:build unix

package harness

// LaunchedOnly are the tests that say something about an image that the server
// has launched and may do with as it likes, each with the reason: with -attached
// they are skipped. All others say the same of both.
var LaunchedOnly = map[string]string{
	"TestPersonUndoesOwn":                              "the person is a thread of the program's",
	"TestMemoryOfTheServer":                            "it is the server's, whatever it speaks with",
	"TestBudgets":                                      "it is the server's, whatever it speaks with",
	"TestBackgroundOutput":                             descriptors,
	"TestThreadOutlivesItsCall":                        descriptors,
	"TestDamageProbes/read-line_of_the_process'_stdin": "standard input is that of the person's terminal",

	"TestStdinOfTheServerIsNotTheImages":             "standard input is that of the person's terminal",
	"TestSurvives/consing_lists_until_memory_ends":   "the watch of the heap would be a global hook",
	"TestSurvives/consing_vectors_until_memory_ends": "the watch of the heap would be a global hook",
	"TestSurvives/unhandled_error_in_a_new_thread":   "it opens the person's debugger, as any background error of theirs does",
	"TestLoadDebianSystems":                          "loading Swank has left symbols in their CL-USER, with which ALEXANDRIA's conflict",
	"TestDocs":                                       "the pages show what a launched image answers",
	"TestAddingATool":                                "it is about the tree, not the image",
	"TestPackageLint":                                "it is about the file, not the image",

	"TestConformance":             overHTTP,
	"TestDocsHTTP":                overHTTP,
	"TestForeignClientsOverHTTP":  overHTTP,
	"TestHTTPURL":                 overHTTP,
	"TestHTTPConfines":            overHTTP,
	"TestHTTPMessages":            overHTTP,
	"TestHTTPNextServer":          overHTTP,
	"TestHTTPWallTime":            overHTTP,
	"TestHTTPProcessorTime":       overHTTP,
	"TestHTTPDisk":                overHTTP,
	"TestHTTPLinks":               overHTTP,
	"TestHTTPLinkedCheckpoints":   overHTTP,
	"TestHTTPPool":                overHTTP,
	"TestHTTPPoolGivesUp":         overHTTP,
	"TestHTTPPoolBounds":          overHTTP,
	"TestHTTPPoolShared":          overHTTP,
	"TestHTTPShared":              overHTTP,
	"TestHTTPHibernates":          overHTTP,
	"TestHTTPRemote":              overHTTP,
	"TestHTTPRefuses":             overHTTP,
	"TestHTTPDrain":               overHTTP,
	"TestHTTPPeople":              overHTTP,
	"TestHTTPSessions":            overHTTP,
	"TestInspectorStrictOverHTTP": overHTTP,
	"TestHTTPSocket":              overHTTP,

	"TestLoopWithoutInterruptsCancelled": replaced + ": see TestAttachedUnstoppable",
	"TestUnstoppableLoop":                replaced + ": see TestAttachedUnstoppable",
	"TestImageKilledInMidEvaluation":     replaced + ": see TestAttachedImageDies",
	"TestImageKilledInMidLookUp":         replaced + ": see TestAttachedImageDies",
	"TestImageEndsItself":                replaced + ": see TestAttachedImageDies",
	"TestImageKilledWhileIdle":           replaced + ": see TestAttachedImageDies",
	"TestJobThatCannotBeStopped":         replaced + ": see TestAttachedImageDies",
	"TestJobsBesideEachOther":            replaced + ": see TestAttachedImageDies",
	"TestImageKilledTenTimes":            replaced + ": see TestAttachedImageDies",
	"TestRedefinedStandardFunction":      replaced,
	"TestServerKilled":                   "the image does not end with the server: see TestGuestLeavesNothing",
	"TestOddPackages/CL-USER_deleted":    "the package is a person's",
	"TestEndOfInputOfAFrozenImage":       "the image does not end with the server: see TestGuestLeavesNothing",
	"TestNextStartCleansUp":              "the image does not end with the server: see TestGuestLeavesNothing",
	"TestNextStartCleansUpTheBoard":      broughtBack,
	"TestHeapFilledByALeftThread":        "a person's heap has its own size: see TestGuestHeap",
	"TestEndOfInput":                     "the image does not end with the server: see TestGuestLeavesNothing",

	"TestTerminalStopsWhatCannotBeStopped": replaced,
	"TestTerminalAllows":                   "the person's image has more policies: see TestFirstAnswerCounts",

	"TestSandboxRefuses":                  notConfined,
	"TestSandboxOffRefusesNothing":        notConfined,
	"TestSandboxWithoutNamespaces":        notConfined,
	"TestSandboxNet":                      notConfined,
	"TestSandboxKeepsKeysOutOfTheProject": notConfined,
	"TestSandboxWorks":                    notConfined,
	"TestSandboxWorksWithoutNamespaces":   notConfined,
	"TestSandboxServesWithoutCore":        notConfined,
	"TestSandboxLeavesNothing":            notConfined,
	"TestSandboxDoctor":                   notConfined,
	"TestSandboxMemory":                   notConfined,

	"TestCheckpointOracle":       notCopied,
	"TestTerminalUndoesSteps":    notCopied,
	"TestTerminalUndoes":         notCopied,
	"TestWebRestores":            notCopied,
	"TestWebPictures":            "the pictures are of a launched image",
	"TestCheckpointKills":        notCopied,
	"TestCheckpointDeaths":       notCopied,
	"TestCheckpointServerKilled": notCopied,
	"TestDiskKilled":             notCopied,
	"TestDiskFull":               notCopied,

	"TestRecovery":                      broughtBack,
	"TestNoRecovery":                    broughtBack,
	"TestKilledAtRandomPoints":          broughtBack,
	"TestUndoneStaysUndone":             broughtBack,
	"TestRecoveryInWhateverOrder":       broughtBack,
	"TestRecoveryOfOtherSyntax":         broughtBack,
	"TestSystemsLoadedByCode":           broughtBack,
	"TestSystemsToldOfComeBack":         broughtBack,
	"TestTruthOfSystems":                broughtBack,
	"TestTruthOfOrder":                  broughtBack,
	"TestTruthOfExpansion":              broughtBack,
	"TestTruthOfWays":                   broughtBack,
	"TestTruthOfWhatComesBack":          broughtBack,
	"TestTruthProperty":                 broughtBack,
	"TestStatusProperty":                "nobody watches which files code loads in a person's image: docs/howto/systems.md",
	"TestSavedSessionLoadsWhatIsOnDisk": broughtBack,
	"TestForcedLoadIsRemembered":        broughtBack,
	"TestSystemsOfPathsComeBack":        broughtBack,
	"TestHostileRestore":                broughtBack,
	"TestSabotage":                      broughtBack,
	"TestOwnPrintMethodsComeBack":       broughtBack,

	"TestLoadSystemByItsFile": elsewhere,
	"TestScript/foreign":      elsewhere,

	"TestResetLeavesNothing":                uninterned,
	"TestResetInAForeignPackage":            uninterned,
	"TestResetFreesNames":                   uninterned,
	"TestPackageContextProperty":            uninterned,
	"TestResetOfABrokenSession":             uninterned,
	"TestListingToolsAndStatusStartNothing": "they connect: see TestAttachByAnyTool",
	"TestColdCache":                         cached,
	"TestFirstEvaluationWithTheCore":        cached,
	"TestTwoServersOneCache":                cached,
	"TestServesWithUnwritableCache":         cached,
	"TestNoSwank":                           "a person's image has its Swank",
	"TestEvalCommand":                       "it is given no flags: it launches an image of its own",
	"TestEvalCommandMakesTheCore":           cached,
	"TestStartWithoutSecret":                "it is given no flags: it launches an image of its own",
	"TestOddEnvironments":                   "it is given no flags: it launches an image of its own",
	"TestServerMakesNoHome":                 "it is given no flags: it launches an image of its own",
	"TestScript/test-command":               "the command launches an image of its own: fresh.txtar has an attached server",
	"TestBrokenRCFile":                      rcFile,
	"TestRCFileIsLoaded":                    rcFile,
}

const (
	overHTTP    = "over HTTP each session has an image of its own"
	elsewhere   = "the working directory of the person's image is their own"
	descriptors = "descriptors 1 and 2 of the process are the person's"
	replaced    = "a person's image is neither ended nor replaced"
	broughtBack = "what is lost with a person's image is not brought back"
	notCopied   = "a person's image is not copied: it has their threads"
	notConfined = "a person's image is not confined"
	uninterned  = "a reset uninterns nothing in a person's image and leaves use-lists and constants: see TestAttachedReset"
	cached      = "the cache of cores is for images that are launched"
	rcFile      = "a person's image has loaded what they like"
)
