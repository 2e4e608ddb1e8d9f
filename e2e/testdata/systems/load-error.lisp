(in-package :cl-user)

(format t "before the error~%")
(error "no luck at load: ~D" 42)
