;;;; history.lisp -- HISTORY: what agents have done in this image

(cl:in-package #:swank-mcp)

(defun actions (&optional (count *max-actions*))
  "The newest COUNT actions, oldest first."
  (with-lock ()
    (loop for number from (max *oldest-number* (- *last-number* count -1)) to *last-number*
          for action = (find-action number)
          when action collect action)))

(defun action-text (action)
  "What became of ACTION, on one line."
  (let ((state (action-state action)))
    (ecase state
      (:running "is running")
      (:suspended (format nil "is suspended at ~A" (action-type action)))
      (:done (if (action-values action)
                 (format nil "=> ~A" (on-one-line (clip (first (action-values action)) 200)))
                 (if (string= "evaluate-lisp" (action-tool action)) "no values" "done")))
      (:error (format nil "[ERROR] ~A" (action-type action)))
      ((:timeout :cancelled :stopped :lost) (format nil "[~A]" state)))))

(defun clock-text (universal)
  (multiple-value-bind (second minute hour) (decode-universal-time universal)
    (format nil "~2,'0D:~2,'0D:~2,'0D" hour minute second)))

(defun seconds-text (microseconds)
  (if microseconds (format nil "~,3F s" (/ microseconds 1000000)) ""))

(defun change-label (change)
  (format nil "~:[~;new ~]~A" (change-newp change) (key-label (change-key change))))

(defun action-who (action)
  "Who did ACTION, and in which package if that is not COMMON-LISP-USER."
  (format nil "~@[~A ~](~A)~@[ ~A~]"
          (action-client action) (action-session action)
          (let ((package (action-package action)))
            (and package (string/= package "COMMON-LISP-USER") package))))

(defun action-line (action)
  (format nil "~4D ~A ~A ~A: ~A  ~A~@[  redefined ~{~A~^, ~}~]"
          (action-number action) (clock-text (action-began action)) (action-who action)
          (action-tool action)
          (clip (on-one-line (clip (action-code action) 400)) 60)
          (clip (action-text action) 80)
          (loop for change in (reverse (action-changes action))
                unless (change-newp change) collect (key-label (change-key change)))))

(defun print-block (title text)
  (when (plusp (length text))
    (format t "~&[~A]~%~A~%" title text)))

(defun print-action (action)
  (format t "~&~D at ~A: ~A, ~A~@[ in frame ~D~], ~A~%"
          (action-number action) (clock-text (action-began action)) (action-who action)
          (action-tool action) (action-frame action) (seconds-text (action-microseconds action)))
  (print-block "code" (action-code action))
  (print-block "stdout" (action-out action))
  (print-block "stderr" (action-err action))
  (case (action-state action)
    (:done (if (action-values action)
               (format t "~&~{=> ~A~%~}" (action-values action))
               (format t "~&; ~A~%" (action-text action))))
    (t (format t "~&~A~@[~%~A~]~%" (action-text action) (action-message action))))
  (dolist (change (reverse (action-changes action)))
    (format t "~&[~:[redefined~;defined~] ~A]~@[ which was:~%~A~]~%" (change-newp change)
            (key-label (change-key change)) (change-source change)))
  (when (plusp (action-changes-left-out action))
    (format t "~&... ~D more definitions~%" (action-changes-left-out action)))
  (format t "~{~&; ~A~%~}" (reverse (action-remarks action))))

(defun history (&optional number (count 30))
  "Print what agents have done in this image: without NUMBER a line for each of the newest COUNT
evaluations, with NUMBER the whole of that one.  Return no values.

Of each, the history has its number, time, client, session, package, tool, code, output, values or
error, and what it defined, with the source text of the definitions before.  It keeps the newest
4096, or fewer if they are long.  HISTORY-ENTRIES returns the same as data."
  (if number
      (let ((action (with-lock () (find-action number))))
        (if action
            (print-action action)
            (format t "~&; There is no entry ~D.~@[ Kept are ~{~D to ~D~}.~]~%" number
                    (and *actions* (list *oldest-number* *last-number*)))))
      (let ((actions (actions count)))
        (when (and actions (> (action-number (first actions)) *oldest-number*))
          (format t "~&; ~:D more before these: (swank-mcp:history nil ~D)~%"
                  (- (action-number (first actions)) *oldest-number*) *last-number*))
        (format t "~{~&~A~%~}" (mapcar #'action-line actions))
        (unless actions (format t "~&; No agent has evaluated anything.~%"))))
  (values))

(defun change-plist (change)
  (list :definition (key-label (change-key change)) :new (change-newp change)
        :source (change-source change)))

(defun history-entries (&key (since 0) (count *max-actions*))
  "A list of property lists, oldest first, of the newest COUNT entries of the history after the
number SINCE.  The keys are :NUMBER, :TIME (universal), :SECONDS, :STATE (:RUNNING, :SUSPENDED, :DONE,
:ERROR, :TIMEOUT, :CANCELLED, :STOPPED or :LOST), :CLIENT, :SESSION, :TOOL, :PACKAGE, :FRAME, :CODE,
:STDOUT, :STDERR, :VALUES (texts), :TYPE and :MESSAGE of an error, :CHANGES (a list of property lists with
:DEFINITION, :NEW and :SOURCE, of the definition before) and :REMARKS (texts)."
  (loop for action in (actions count)
        when (> (action-number action) since)
          collect (list :number (action-number action) :time (action-began action)
                        :seconds (and (action-microseconds action)
                                      (/ (action-microseconds action) 1e6))
                        :state (action-state action) :client (action-client action)
                        :session (action-session action) :tool (action-tool action)
                        :package (action-package action) :frame (action-frame action)
                        :code (action-code action)
                        :stdout (action-out action) :stderr (action-err action)
                        :values (action-values action)
                        :type (action-type action) :message (action-message action)
                        :changes (mapcar #'change-plist (reverse (action-changes action)))
                        :remarks (reverse (action-remarks action)))))
