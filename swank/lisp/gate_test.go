package lisp

import "time"

// callLimit is the time limit of calls whose limit is not the matter of the test.
const callLimit = time.Minute
