(in-package :cl-user)

(loop (sleep 0.01))
