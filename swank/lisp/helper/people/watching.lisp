;;;; watching.lisp -- AGENTS and AGENT-DEFINITIONS: an editor asks who is here and where definitions are

(cl:in-package #:swank-mcp)

(defun sessions-of (guest)
  (with-lock ()
    (loop for name in (guest-sessions guest)
          for session = (gethash name *sessions*)
          when session collect session)))

(defun guest-for-people (guest)
  (let ((sessions (sessions-of guest)))
    (list :id (guest-bridge guest)
          :client (guest-client guest)
          :sessions (mapcar #'session-name sessions))))

(defun evaluation-for-people (evaluation)
  (let ((session (evaluation-session evaluation)) (debuggee (evaluation-debuggee evaluation)))
    (list :number (evaluation-number evaluation) :session (session-name session)
          :client (first (evaluation-caller evaluation))
          :seconds (max 0.0 (/ (- (microseconds) (evaluation-started evaluation)) 1e6))
          :code (clip (on-one-line (code-for-people (evaluation-code evaluation) 400)) 60)
          :error (and debuggee (suspendedp evaluation) (getf (debuggee-report debuggee) :type)))))

(defun agents ()
  "What agents do in this image now, as a property list:
:AGENTS, a list of property lists with :ID (text), :CLIENT (text or NIL) and :SESSIONS (names), of
each server that is connected; :RUNNING and :SUSPENDED, lists of property lists with :NUMBER (in the
history, or NIL), :SESSION, :CLIENT, :SECONDS, :CODE and :ERROR (the type, of a suspended one), of
evaluations, oldest first; :ASKS, if one waits for the person's answer, its client or T; :PAUSED, true
if calls wait because of PAUSE; :LAST, the number of the newest entry of the history."
  (let ((evaluations (with-lock () (reverse *evaluations*))))
    (list :agents (loop for guest in (with-lock () (reverse *guests*))
                        when (connectedp (guest-connection guest))
                          collect (guest-for-people guest))
          :running (mapcar #'evaluation-for-people (remove-if #'suspendedp evaluations))
          :suspended (mapcar #'evaluation-for-people (remove-if-not #'suspendedp evaluations))
          :asks (let ((asking (find *waits-for-answer* evaluations
                                    :key #'evaluation-waits :test #'eq)))
                  (and asking (or (first (evaluation-caller asking)) t)))
          :paused (and *paused* t)
          :last *last-number*)))

(defun agent-definitions (text &optional package)
  "The definitions in this image that agents have made, and that no file has, of the name that TEXT
is in PACKAGE, a name: a list of property lists with :KIND, :SOURCE (the text of the top level form),
:PACKAGE (in which it was read) and :SESSION."
  #+sbcl
  (let* ((session (with-lock () (loop for session being each hash-value of *sessions* return session)))
         (name (and session (find-function-name text session package))))
    (loop for kind in '(:variable :constant :symbol-macro :function :generic-function :macro :compiler-macro
                        :setf-expander :method :class :structure :condition :type)
          append (loop for source in (ignore-errors
                                      (sb-introspect:find-definition-sources-by-name name kind))
                       for plist = (sb-introspect:definition-source-plist source)
                       for file = (sb-introspect:definition-source-pathname source)
                       when (and (getf plist :swank-mcp-source)
                                 (not (and file (ignore-errors (probe-file (translate-logical-pathname file))))))
                         collect (list :kind (string-downcase kind)
                                       :source (getf plist :swank-mcp-source)
                                       :package (getf plist :swank-mcp-package)
                                       :session (getf plist :swank-mcp)))))
  #-sbcl (progn text package nil))
