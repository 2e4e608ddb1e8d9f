(:return (:ok (:error "Error: Failed to find the TRUENAME of /home/user/sbcl/src/code/eval.lisp:

         No such file or directory")) 22)