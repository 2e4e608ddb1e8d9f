(:return (:ok (("(DEFUN SWANK:CREATE-SERVER)" (:location (:file "/home/user/slime/swank.lisp") (:position 26744) (:snippet "(defun create-server (&key (port default-server-port)
                        (style *communication-style*)
                        (dont-close *dont-close*)
                        interface
                        backlog)
  \"Start a SWANK server on PORT"))))) 9)