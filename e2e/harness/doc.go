// Package harness has what the end-to-end tests share. The packages beside it are their themes:
// each calls [Main] in its TestMain and tests the built binary with a real SBCL. Sessions that are
// written down are e2e/testdata/script, which the package script runs.
//
//   - [Start] runs a server that launches its image, or attaches to a person's with -attached;
//     [StartWith] and [StartCold] do so in other ways. It is ended, and judged, at the end of the test.
//   - [Want], [Good], [Bad] and [Call] call its tools; [SendTool] and [Answer] do so in two steps.
//   - [NewPerson] runs a Lisp with Swank in it, as a person does, and [Attached] attaches to it.
//   - [NewDesk] has the terminals, pages and sockets of a person; [NewBrowser] shows a page.
//   - [NewEmacs] runs Emacs with SLIME, and [StartHTTP] a server over HTTP.
//   - [Environ] is the environment of a server: nothing of the user's takes part in it.
//   - [InTree] and [Testdata] name files of the module.
//
// Tests wait with the package await, and for nothing else. What is compiled stays in a cache that
// all packages and runs share: the first that needs it makes it, under a lock. A test that fails
// shows the last message of its servers, their logs and the seeds of the run.
package harness
