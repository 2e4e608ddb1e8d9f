(:return (:ok (("SWANK-REPL::OPEN-DEDICATED-OUTPUT-STREAM" (:location (:file "/home/user/slime/contrib/swank-repl.lisp") (:position 3959) (:snippet "(encode-message `(:open-dedicated-output-stream ,port
                                                           ,coding-system)
                           (connection.socket-io connection))
           (let ((dedicated (accept-connection
                  "))) ("SWANK::DISPATCH-EVENT" (:location (:file "/home/user/slime/swank.lisp") (:position 39285) (:snippet "(encode-message `(:return ,@args) (current-socket-io)))
        ((:emacs-interrupt thread-id)
         (interrupt-worker-thread connection thread-id))
        (((:write-string
           :debug :debug-condition :debug-activate :debug-return :channel-send
 "))) ("SWANK::DISPATCH-EVENT" (:location (:file "/home/user/slime/swank.lisp") (:position 40352) (:snippet "(encode-message `(:reader-error ,packet
                                         ,(safe-condition-message condition))
                         (current-socket-io))))))


(defun send-event (thread event)
  (log-event \"send-event: ~s ~s~%\" thread event)
  ("))) ("SWANK::DISPATCH-EVENT" (:location (:file "/home/user/slime/swank.lisp") (:position 39016) (:snippet "(encode-message
                   (list :invalid-rpc id
                         (format nil \"Thread not found: ~s\" thread-id))
                   (current-socket-io))))))
        ((:return thread &rest args)
         (remove-active-thread connection thre"))) ("SWANK::DISPATCH-EVENT" (:location (:file "/home/user/slime/swank.lisp") (:position 39906) (:snippet "(encode-message event (current-socket-io)))
        (((:emacs-pong :emacs-return :emacs-return-string :ed-rpc-forbidden)
          thread-id &rest args)
         (send-event (find-thread thread-id) (cons (car event) args)))
        ((:emacs-channel-send ch"))) ("SWANK::INTERRUPT-WORKER-THREAD" (:location (:file "/home/user/slime/swank.lisp") (:position 37473) (:snippet "(encode-message (list :debug-condition (current-thread-id)
                              (format nil \"Thread with id ~a not found\" 
                                      id))
                        (current-socket-io)))))

(defun spawn-worker-thread (conn"))))) 10)