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

(defun found-text (session)
  "A sentence about what a server finds in SESSION, which is older than the server; or NIL."
  (let ((parts (append (unless (eq (session-package session) (user-package))
                         (list (format nil "its package is ~A" (session-package-name session))))
                       (differing-variables session)))
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
  "OTHER-GUESTS, after a moment in which the end of one may be noticed."
  (loop repeat 15
        for guests = (other-guests name)
        while guests
        do (sleep 0.02)
        finally (return guests)))

(defun join-session (&optional (name "default"))
  "Note that a server is about to evaluate in the session NAME for the first time.  Answer a list
of texts for its first reply."
  (let* ((session (with-lock () (gethash name *sessions*)))
         (others (length (staying-guests name)))
         (guest (own-guest)))
    (when guest
      (with-lock () (pushnew name (guest-sessions guest) :test #'string=)))
    (when (plusp others)
      (tell-others name (format nil "Another server works in this session, ~S, now. ~A" name *own-session-advice*)))
    (answer
     (append (let ((text (and session (session-used session) (found-text session))))
               (and text (list text)))
             (and (plusp others)
                  (list (format nil "~:[~D other servers work~;Another server works~*~] in the session ~S, too. ~A"
                                (= others 1) others name *own-session-advice*)))))))

(defun notify-of-reset (session count)
  (tell-others (session-name session)
               (format nil "Another server has reset this session, ~S~[~:;, and with it ~:*~D definition~:P~]."
                       (session-name session) count)))
