package main

// systems are those of Debian 12 that have tests which run in its SBCL: others' want
// what is not in Debian, or their package is without them.
var systems = []system{
	{name: "agnostic-lizard", debian: "cl-agnostic-lizard", more: []string{"cl-iterate"},
		test: `(let ((*default-pathname-defaults* (asdf:system-source-directory "iterate")))
		         (load (asdf:system-relative-pathname "agnostic-lizard" "use-iterate-test.lisp")))`},
	{name: "alexandria", debian: "cl-alexandria", more: []string{"cl-rt"}},
	{name: "anaphora", debian: "cl-anaphora", more: []string{"cl-rt"}},
	{name: "cffi", debian: "cl-cffi", more: []string{"cl-bordeaux-threads", "cl-rt"}, countsOnly: true},
	{name: "chipz", debian: "cl-chipz", more: []string{"cl-salza2"},
		load: `(progn (load (asdf:system-relative-pathname "chipz" "tests.lisp"))
		              (uiop:copy-file (asdf:system-relative-pathname "chipz" "tests.lisp") "a.uncompressed"))`,
		test: withoutSemicolons(`(let ((here (truename "./")))
		         (chipz-tests::compress-test-files here)
		         (handler-bind ((chipz:chipz-error (lambda (condition)
		                                             (format t "~A~%" (type-of condition))
		                                             (invoke-restart 'chipz-tests::skip-test))))
		           (print (chipz-tests::run-all-tests here))))`)},
	{name: "cl+ssl", debian: "cl-plus-ssl", more: []string{"cl-fiveam"}},
	{name: "cl-base64", debian: "cl-base64", more: []string{"cl-kmrcl", "cl-ptester"}},
	{name: "cl-interpol", debian: "cl-interpol", more: []string{"cl-flexi-streams"}},
	{name: "cl-photo", debian: "cl-photo", more: []string{"cl-rt"}, load: `(asdf:load-system "rt")`,
		test: `(progn (load (asdf:system-relative-pathname "cl-photo" "tests.lisp")) (rtest:do-tests))`},
	{name: "cl-postgres", debian: "cl-postgres", more: []string{"cl-fiveam"}, load: postgres("cl-postgres/tests"),
		test: `(asdf:test-system "cl-postgres/tests")`},
	{name: "cl-ppcre", debian: "cl-ppcre", more: []string{"cl-flexi-streams"}},
	{name: "cl-ppcre-unicode", debian: "cl-ppcre-unicode", more: []string{"cl-flexi-streams"}},
	{name: "cl-unicode", debian: "cl-unicode"},
	{name: "cl-utilities", debian: "cl-utilities", more: []string{"cl-fiveam"},
		load: `(load (asdf:system-relative-pathname "cl-utilities" "test.lisp"))`,
		test: `(5am:run! 'cl-utilities-tests::cl-utilities-suite)`},
	{name: "cxml", debian: "cl-cxml", more: []string{"cl-puri"}},
	{name: "drakma", debian: "cl-drakma", more: []string{"cl-fiveam"}},
	{name: "esrap", debian: "cl-esrap", more: []string{"cl-fiveam"}},
	{name: "fiveam", debian: "cl-fiveam"},
	{name: "flexi-streams", debian: "cl-flexi-streams"},
	{name: "getopt", debian: "cl-getopt", more: []string{"cl-ptester"},
		load: `(asdf:load-system "getopt-tests")`, test: `(getopt-tests::do-tests)`},
	{name: "global-vars", debian: "cl-global-vars"},
	{name: "ieee-floats", debian: "cl-ieee-floats", more: []string{"cl-fiveam"}},
	{name: "ironclad", debian: "cl-ironclad", more: []string{"cl-rt"}},
	{name: "iterate", debian: "cl-iterate", more: []string{"cl-rt"}},
	{name: "lml", debian: "cl-lml", more: []string{"cl-rt"}, load: `(asdf:load-system "rt")`,
		test: `(progn (load (asdf:system-relative-pathname "lml" "tests.lisp")) (rtest:do-tests))`},
	{name: "md5", debian: "cl-md5",
		load: `(let ((*features* (cons :md5-testing *features*)))
		         (load (asdf:system-relative-pathname "md5" "md5.lisp")))`,
		test: `(let ((*trace-output* *standard-output*)) (md5::test-rfc1321) (md5::test-other))`},
	{name: "named-readtables", debian: "cl-named-readtables", more: []string{"cl-rt"}},
	{name: "nibbles", debian: "cl-nibbles", more: []string{"cl-rt"}},
	{name: "osicat", debian: "cl-osicat", more: []string{"cl-rt"}},
	{name: "parse-number", debian: "cl-parse-number"},
	{name: "postmodern", debian: "cl-postmodern", more: []string{"cl-fiveam", "cl-local-time", "cl-simple-date"},
		load: postgres("postmodern/tests"),
		test: `(asdf:test-system "postmodern/tests")`},
	{name: "puri", debian: "cl-puri", more: []string{"cl-ptester"}},
	{name: "regex", debian: "cl-regex",
		load: `(progn (uiop:run-program (list "zcat" (namestring (asdf:system-relative-pathname "regex"
		                "../../../doc/cl-regex/examples/regexp-test-suite.lisp.gz"))) :output "tests.lisp")
		              (load "tests.lisp" :external-format :latin-1))`,
		test: `(regex-test::run-sebastien-tests)`},
	{name: "rt", debian: "cl-rt", // its tests would ask for the name of a file
		load: `(progn (defvar *file-name* "rt.txt") (load (asdf:system-relative-pathname "rt" "rt-test.lisp")))`,
		test: `(rt:do-tests)`},
	{name: "s-sql", debian: "cl-s-sql", more: []string{"cl-fiveam", "cl-postmodern"}, load: postgres("s-sql/tests"),
		test: `(asdf:test-system "s-sql/tests")`},
	{name: "simple-date", debian: "cl-simple-date", more: []string{"cl-fiveam"}},
	{name: "split-sequence", debian: "cl-split-sequence", more: []string{"cl-fiveam"}},
	{name: "trivial-features", debian: "cl-trivial-features", more: []string{"cl-alexandria", "cl-cffi", "cl-rt"}},
	{name: "trivial-garbage", debian: "cl-trivial-garbage", more: []string{"cl-rt"}},
	{name: "trivial-gray-streams", debian: "cl-trivial-gray-streams", load: `(asdf:load-system "trivial-gray-streams-test")`,
		test: `(print (trivial-gray-streams-test:run-tests))`},
	{name: "xlunit", debian: "cl-xlunit", load: `(asdf:load-system "xlunit-tests")`,
		test: `(xlunit:textui-test-run (xlunit:get-suite xlunit-tests::test-case-test))`},
	{name: "xmls", debian: "cl-xmls", more: []string{"cl-fiveam"}},
}

// postgres loads a system of tests that would ask for a database, and answers for it:
// there is none, so that each test which wants it fails.
func postgres(tests string) string {
	return `(progn (asdf:load-system "` + tests + `")
	         (set (find-symbol "*CL-POSTGRES-TEST-CONNECTION*" "CL-POSTGRES-TESTS")
	              '("test" "test" "" "localhost" 5432 :no)))`
}

// withoutSemicolons lets be seen what form prints, which the compiler seems to say.
func withoutSemicolons(form string) string {
	return `(write-string (remove #\; (with-output-to-string (*standard-output*) ` + form + `)))`
}
