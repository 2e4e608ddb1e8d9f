;;;; joining.lisp -- several servers in one session of a person's image

(cl:in-package #:swank-mcp)

;;; A session lives in the image.  So a new server finds what an earlier one has left, and may
;;; share the session with another server.  The replies of both say so.

(defun differing-variables (session)
  "Texts about the variables of reader and printer that SESSION has set."
  (let ((first (initial-values)))
    (loop for variable in *session-variables*
          for value in (session-values session)
          for initial in first
          when (and (member variable *syntax-variables*)
                    (not (member variable '(*readtable* *print-pprint-dispatch*)))
                    (not (equalp value initial)))
            collect (format nil "~A is ~A" variable
                            (with-standard-io-syntax (safely (prin1-to-string value)))))))

(defun suspension-text (evaluation)
  "What a server is told of EVALUATION, which is suspended and not its own."
  (let ((report (debuggee-report (evaluation-debuggee evaluation)))
        (client (first (evaluation-caller evaluation))))
    (format nil "~A~@[ of ~A~] is suspended at ~A"
            (clip (on-one-line (code-for-people (evaluation-code evaluation) 400)) 60)
            client (or (getf report :type) "an error"))))

(defun found-text (session)
  "A sentence about what a server finds in SESSION, which is older than the server; or NIL."
  (let ((parts (append (unless (eq (session-package session) (user-package))
                         (list (format nil "its package is ~A" (session-package-name session))))
                       (differing-variables session)
                       (mapcar #'suspension-text (reverse (suspended-evaluations session)))))
        (count (length (own-definitions session))))
    ;; definitions alone are no surprise
    (and parts
         (format nil "The session ~S was in this image before: ~{~A~^, ~}~@[, it has ~D definition~:P~]. reset-session makes it as new."
                 (session-name session)
                 (append (first-few parts 12)
                         (and (count-beyond parts 12)
                              (list (format nil "and ~D more" (count-beyond parts 12)))))
                 (and (plusp count) count)))))

(defparameter *own-session-advice*
  "Both see and reset what either defines; --session NAME gives a server one of its own.")

(defun staying-guests (name)
  "OTHER-GUESTS, when the threads that notice the end of a connection could have noticed that of one."
  (flet ((numbers ()
           (loop for guest in (other-guests name)
                 for connection = (guest-connection guest)
                 when (control-thread connection)
                   collect (thread-system-number (control-thread connection))
                   and collect (thread-system-number (swank::mconn.reader-thread connection)))))
    (await-able (lambda () (null (other-guests name))) 3/10 #'numbers 1/50)
    (other-guests name)))

(defun clients-text (guests)
  "The clients of GUESTS, as far as they have said who they are: \" (A, B)\", or \"\"."
  (let ((names (remove nil (mapcar #'guest-client guests))))
    (format nil "~@[ (~{~A~^, ~})~]" (sort (copy-list names) #'string<))))

(defun join-session (&optional (name "default") client)
  "Note that a server, for CLIENT, is about to evaluate in the session NAME for the first time.
Answer a list of texts for its first reply."
  (let* ((session (with-lock () (gethash name *sessions*)))
         (others (staying-guests name)) (count (length others))
         (guest (own-guest)))
    (when guest
      (with-lock () (pushnew name (guest-sessions guest) :test #'string=))
      (when (plusp (length client)) (name-guest guest client)))
    (when others
      (tell-others name (format nil "Another server~@[~A~] works in this session, ~S, now. ~A"
                                (and guest (clients-text (list guest))) name *own-session-advice*)))
    (answer
     (append (let ((text (and session (session-used session) (found-text session))))
               (and text (list text)))
             (and others
                  (list (format nil "~:[~D other servers~A work~;Another server~*~A works~] in the session ~S, too. ~A"
                                (= count 1) count (clients-text others) name *own-session-advice*)))))))

(defun notify-of-reset (session count)
  (tell-others (session-name session)
               (format nil "Another server~A has reset this session, ~S~[~:;, and with it ~:*~D definition~:P~]."
                       (let ((guest (own-guest))) (if guest (clients-text (list guest)) ""))
                       (session-name session) count)))

(defun note-reset (session count)
  "Enter a reset of SESSION, which has undefined COUNT definitions, into the history."
  (let ((action (make-action :began (get-universal-time) :state :done :microseconds 0
                             :client (client-of-caller session) :tool "reset-session"
                             :session (session-name session)
                             :code (format nil "~D definition~:P undefined" count))))
    (with-lock () (add-action action))
    (note-echo :begun action)))
