;;; swank-mcp.el --- See and steer agents in your Lisp  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 the authors of swank-mcp
;; SPDX-License-Identifier: MIT

;; Author: The authors of swank-mcp
;; Version: 0.1
;; Package-Requires: ((emacs "27.1"))
;; Keywords: lisp, languages, tools

;;; Commentary:

;; swank-mcp lets AI agents work in the Lisp that you work in.  With this file you see in
;; Emacs what they do, and you are in charge.  It works beside SLIME and beside Sly.
;;
;;   (add-to-list 'load-path "~/swank-mcp/emacs")
;;   (require 'swank-mcp)
;;   (swank-mcp-mode)
;;
;; M-x swank-mcp-share lets agents into the connected Lisp.  The mode line then says what they
;; do.  M-x swank-mcp-history lists it; swank-mcp-stop, swank-mcp-pause and swank-mcp-resume
;; steer it, swank-mcp-ask has you asked before, swank-mcp-take-over opens a debugger for you
;; where an agent's code has failed, and swank-mcp-show hands something over.  The key `M-.' goes to what agents have
;; defined, too.
;;
;; Requests to the Lisp never use the thread of your REPL.  While no agent is connected,
;; nothing is asked.

;;; Code:

(require 'cl-lib)
(require 'diff)
(require 'diff-mode)
(require 'seq)
(require 'subr-x)
(require 'tabulated-list)

(defvar slime-net-processes)
(defvar slime-dispatching-connection)
(defvar slime-current-thread)
(defvar slime-output-end)
(defvar sly-net-processes)
(defvar sly-dispatching-connection)
(defvar sly-current-thread)
(defvar sly-buffer-connection)
(defvar sly-mode)

(declare-function slime-current-connection "ext:slime" ())
(declare-function slime-dispatch-event "ext:slime" (event &optional process))
(declare-function slime-eval "ext:slime" (sexp &optional package))
(declare-function slime-current-package "ext:slime" ())
(declare-function slime-edit-definition-cont "ext:slime" (xrefs name where))
(declare-function slime-edit-definition "ext:slime" (&optional name where))
(declare-function slime-connection-output-buffer "ext:slime-repl" (&optional process))
(declare-function slime-repl-emit "ext:slime-repl" (string))
(declare-function sly-current-connection "ext:sly" ())
(declare-function sly-dispatch-event "ext:sly" (event &optional process))
(declare-function sly-eval "ext:sly" (sexp &optional package cancel-on-input cancel-on-input-retval env))
(declare-function sly-current-package "ext:sly" (&optional allow-cached))
(declare-function sly-edit-definition "ext:sly" (&optional name method))
(declare-function sly-symbol-at-point "ext:sly" (&optional interactive))
(declare-function sly-read-symbol-name "ext:sly" (prompt &optional query))
(declare-function sly-analyze-xrefs "ext:sly" (xrefs))
(declare-function sly-push-definition-stack "ext:sly" ())
(declare-function sly--pop-to-source-location "ext:sly" (source-location &optional method))
(declare-function sly-xref--show-results "ext:sly" (xrefs type symbol package &optional method))
(declare-function sly-mrepl--find-buffer "ext:sly-mrepl" (&optional connection thread))
(declare-function sly-mrepl--insert-output "ext:sly-mrepl" (string &optional face nofilters))
(declare-function lisp-mode "lisp-mode" ())

(defgroup swank-mcp nil
  "Agents in the Lisp that you work in."
  :group 'lisp
  :prefix "swank-mcp-")

(defcustom swank-mcp-register-command "claude mcp add lisp -- swank-mcp --attach %s"
  "The command that `swank-mcp-share' copies; %s stands for the address."
  :type 'string)

(defcustom swank-mcp-interval 1
  "Seconds between two looks at what agents do, while there are any."
  :type 'number)

(defcustom swank-mcp-announce t
  "Non-nil means that the REPL says when an agent comes and when it goes."
  :type 'boolean)

(defcustom swank-mcp-history-length 500
  "How many of the newest entries `swank-mcp-history' shows."
  :type 'integer)

(defcustom swank-mcp-source-directory (locate-user-emacs-file "swank-mcp/")
  "Where the source of what agents have defined is kept, for \\`M-.'.
Nobody else can read it."
  :type 'directory)

(defcustom swank-mcp-source-files 200
  "How many of the newest files `swank-mcp-source-directory' keeps."
  :type 'integer)

(defface swank-mcp-idle '((t :inherit shadow)) "Agents are there and do nothing.")
(defface swank-mcp-working '((t :inherit success)) "An agent's code runs.")
(defface swank-mcp-suspended '((t :inherit warning)) "An evaluation waits in the debugger.")
(defface swank-mcp-paused '((t :inherit warning)) "The agents' calls wait until you resume.")
(defface swank-mcp-asks '((t :inherit error)) "An agent waits for your answer.")

;;; The connection, of SLIME or of Sly

(defun swank-mcp--live (processes)
  "Those of PROCESSES that are connections that live."
  (seq-filter #'process-live-p processes))

(defun swank-mcp--connections ()
  "All connections of SLIME and of Sly."
  (append (swank-mcp--live (bound-and-true-p slime-net-processes))
          (swank-mcp--live (bound-and-true-p sly-net-processes))))

(defun swank-mcp--sly-p (connection)
  "Non-nil if CONNECTION is one of Sly's."
  (and (memq connection (bound-and-true-p sly-net-processes)) t))

(defun swank-mcp--connection ()
  "The connection of the current buffer, or the default one, or nil."
  (let ((slime (and (bound-and-true-p slime-net-processes) (slime-current-connection)))
        (sly (and (bound-and-true-p sly-net-processes) (sly-current-connection))))
    (if (or (bound-and-true-p sly-mode) (bound-and-true-p sly-buffer-connection))
        (or sly slime)
      (or slime sly))))

(defun swank-mcp--connection-or-error ()
  "The connection of the current buffer, or the default one, or an error."
  (or (swank-mcp--connection)
      (user-error "No Lisp is connected: type M-x slime or M-x sly")))

(defun swank-mcp--get (connection key)
  "What is kept of CONNECTION under KEY."
  (plist-get (process-get connection 'swank-mcp) key))

(defun swank-mcp--put (connection key value)
  "Keep VALUE of CONNECTION under KEY."
  (process-put connection 'swank-mcp
               (plist-put (process-get connection 'swank-mcp) key value)))

;; The thread T is one that Swank makes for this request, so what the person's REPL and
;; their debugger do is not disturbed, and does not disturb us.  An error there would open
;; a debugger: each FORM handles its errors.
(defun swank-mcp--send (connection form then &optional thread)
  "Evaluate FORM in the Lisp of CONNECTION, then call THEN with the value.
THREAD is one that is in a debugger of the person's, or nil."
  (let ((event (list :emacs-rex form "COMMON-LISP-USER" (or thread t)
                     (lambda (answer) (funcall then (and (eq (car answer) :ok) (cadr answer)))))))
    (if (swank-mcp--sly-p connection)
        (sly-dispatch-event event connection)
      (slime-dispatch-event event connection))))

(defun swank-mcp--wait (connection form &optional package)
  "Evaluate FORM in PACKAGE in the Lisp of CONNECTION and return the value."
  (if (swank-mcp--sly-p connection)
      (let ((sly-dispatching-connection connection) (sly-current-thread t))
        (sly-eval form (or package "COMMON-LISP-USER")))
    (let ((slime-dispatching-connection connection) (slime-current-thread t))
      (slime-eval form (or package "COMMON-LISP-USER")))))

(defun swank-mcp--look-up (name &rest arguments)
  "Return a form to call the function NAME of SWANK-MCP with ARGUMENTS.
Its value is nil where that is not there, or fails."
  `(cl:if (cl:find-package "SWANK-MCP")
          (cl:values
           (cl:ignore-errors
            (cl:funcall (cl:find-symbol ,name "SWANK-MCP") ,@arguments)))))

(defun swank-mcp--printing (form)
  "A form whose value is a list: the text that FORM prints.
If FORM fails, the list is NIL as a text, and the error."
  `(cl:mapcar (cl:function cl:princ-to-string)
              (cl:multiple-value-list
               (cl:ignore-errors
                (cl:with-output-to-string (cl:*standard-output*) ,form)))))

(defun swank-mcp--command (connection then name &rest arguments)
  "Call the function NAME of SWANK-MCP with ARGUMENTS, in the Lisp of CONNECTION.
Then call THEN with the text that it has printed."
  (swank-mcp--send connection (swank-mcp--command-form name arguments)
                   (lambda (answer) (funcall then (swank-mcp--printed answer)))))

(defun swank-mcp--command-form (name arguments)
  "Return a form to call the function NAME of SWANK-MCP with ARGUMENTS.
`swank-mcp--printed' takes its value."
  `(cl:if (cl:find-package "SWANK-MCP")
          ,(swank-mcp--printing
            `(cl:funcall (cl:find-symbol ,name "SWANK-MCP") ,@arguments))))

(defun swank-mcp--printed (answer)
  "What people are told of ANSWER, the value of a `swank-mcp--command-form'."
  (cond ((null answer) "No agent has been in this Lisp")
        ((cdr answer) (format "This failed: %s" (cadr answer)))
        (t (replace-regexp-in-string "^; " "" (string-trim (car answer))))))

(defun swank-mcp--tell (text)
  "Show TEXT in the echo area."
  (message "%s" text))

;;; Looking

(defvar swank-mcp--timer nil
  "Runs while agents are connected, or may be about to.")

(defvar swank-mcp--patience 120
  "Seconds in which somebody who has connected may turn out to be an agent.")

(defun swank-mcp--agents-p (connection)
  "Non-nil if agents were in the Lisp of CONNECTION at the last look."
  (plist-get (swank-mcp--get connection :state) :agents))

(defun swank-mcp--expecting-p (connection)
  "Non-nil if an agent may just be coming into the Lisp of CONNECTION."
  (let ((until (swank-mcp--get connection :expect-until)))
    (and until (< (float-time) until))))

(defun swank-mcp--visible-p ()
  "Non-nil if somebody may see a mode line."
  (or noninteractive
      (seq-some (lambda (frame)
                  (and (eq t (frame-visible-p frame))
                       (not (equal "initial_terminal" (terminal-name frame)))))
                (frame-list))))

(defun swank-mcp--tick ()
  "Look at each Lisp in which agents are; end the timer if there is none."
  (let ((watched (seq-filter (lambda (c) (or (swank-mcp--agents-p c) (swank-mcp--expecting-p c)))
                             (swank-mcp--connections))))
    (if (not (and watched (bound-and-true-p swank-mcp-mode)))
        (swank-mcp--end-timer)
      (when (swank-mcp--visible-p)
        (mapc #'swank-mcp--look watched)))))

(defun swank-mcp--end-timer ()
  "End the timer."
  (when swank-mcp--timer
    (cancel-timer swank-mcp--timer)
    (setq swank-mcp--timer nil)))

(defun swank-mcp--look (connection)
  "Ask the Lisp of CONNECTION what agents do, unless the last answer is due."
  (if (swank-mcp--get connection :looking)
      ;; It may be there, behind a question that Emacs is just asking in the filter.
      (ignore-errors (funcall (process-filter connection) connection ""))
    (swank-mcp--put connection :looking t)
    (condition-case nil
        (swank-mcp--send connection (swank-mcp--look-up "AGENTS")
                         (lambda (state)
                           (swank-mcp--put connection :looking nil)
                           (swank-mcp--seen connection state)))
      (error (swank-mcp--put connection :looking nil)))))

(defun swank-mcp--seen (connection state)
  "Show STATE, what agents do in the Lisp of CONNECTION."
  (swank-mcp--put connection :state state)
  (swank-mcp--announce connection (plist-get state :agents))
  (when (and (bound-and-true-p swank-mcp-mode) (not swank-mcp--timer)
             (or (swank-mcp--agents-p connection) (swank-mcp--expecting-p connection)))
    (setq swank-mcp--timer
          (run-at-time swank-mcp-interval swank-mcp-interval #'swank-mcp--tick)))
  (force-mode-line-update t))

(defun swank-mcp--expect (connection)
  "Somebody has connected to the Lisp of CONNECTION, or has gone."
  (swank-mcp--put connection :expect-until (+ (float-time) swank-mcp--patience))
  (swank-mcp--look connection))

;; Swank tells of connections that come and go by two hooks of its own.  A message that only
;; this file reads comes from there to this Emacs.  Both hooks are as before when this Emacs
;; has gone.  The symbols are uninterned: nothing is added to a package.
(defun swank-mcp--hook-form (server)
  "A form that has the Lisp tell this Emacs of connections.
SERVER is the package that serves this Emacs, as a text."
  (let ((text (concat "
(cl:let ((#1=#:emacs SERVER::*emacs-connection*))
  (cl:labels ((#2=#:tell (#3=#:other)
                (cl:unless (cl:eq #3# #1#)
                  (cl:ignore-errors
                   (SERVER::with-connection (#1#)
                     (SERVER::background-message \"swank-mcp: connections\")))))
              (#4=#:close (#5=#:other)
                (cl:when (cl:eq #5# #1#)
                  (cl:setf swank::*new-connection-hook*
                           (cl:remove '#6=#:told swank::*new-connection-hook*)
                           swank::*connection-closed-hook*
                           (cl:remove '#6# swank::*connection-closed-hook*)
                           SERVER::*connection-closed-hook*
                           (cl:remove '#7=#:closed SERVER::*connection-closed-hook*)))))
    (cl:setf (cl:symbol-function '#6#) (cl:function #2#)
             (cl:symbol-function '#7#) (cl:function #4#))
    (cl:push '#6# swank::*new-connection-hook*)
    (cl:push '#6# swank::*connection-closed-hook*)
    (cl:push '#7# SERVER::*connection-closed-hook*)
    cl:t))")))
    `(cl:if (cl:find-package "SWANK")
            (cl:values
             (cl:ignore-errors
              (cl:eval (cl:read-from-string
                        ,(replace-regexp-in-string "SERVER" server text t t))))))))

(defun swank-mcp--watch (connection)
  "Have the Lisp of CONNECTION tell who connects to it, and look at it once."
  (unless (or (swank-mcp--get connection :watched)
              (swank-mcp--get connection :hooking)) ; asked, and not answered yet
    (swank-mcp--put connection :hooking t)
    (swank-mcp--send connection
                     (swank-mcp--hook-form (if (swank-mcp--sly-p connection) "slynk" "swank"))
                     (lambda (watched)
                       (swank-mcp--put connection :hooking nil)
                       (swank-mcp--put connection :watched watched))))
  (swank-mcp--look connection))

(defun swank-mcp--event (event connection)
  "Return non-nil if EVENT, which came by CONNECTION, is for this file alone."
  (when (equal event '(:background-message "swank-mcp: connections"))
    (when (bound-and-true-p swank-mcp-mode) (swank-mcp--expect connection))
    t))

(defun swank-mcp--slime-event (event)
  "Handle EVENT of SLIME's."
  (swank-mcp--event event slime-dispatching-connection))

(defun swank-mcp--sly-event (event)
  "Handle EVENT of Sly's."
  (swank-mcp--event event sly-dispatching-connection))

(defun swank-mcp--slime-connected ()
  "Watch the Lisp to which SLIME has connected."
  (swank-mcp--watch (slime-current-connection)))

(defun swank-mcp--sly-connected ()
  "Watch the Lisp to which Sly has connected."
  (swank-mcp--watch (sly-current-connection)))

;;; Coming and going

(defun swank-mcp--label (agent)
  "How people know AGENT."
  (let ((client (or (plist-get agent :client) "an agent"))
        (sessions (plist-get agent :sessions)))
    (if sessions (format "%s (%s)" client (string-join sessions ", ")) client)))

(defun swank-mcp--announce (connection agents)
  "Say in the REPL of CONNECTION which AGENTS have come and gone."
  (let* ((known (swank-mcp--get connection :known)) ; (ID LABEL LOOKS), LOOKS is nil once said
         (now (mapcar (lambda (agent)
                        (let* ((id (plist-get agent :id)) (old (cdr (assoc id known)))
                               (looks (if old (cadr old) 0)))
                          (cond ((null looks) (list id (swank-mcp--label agent) nil))
                                ;; Its name and its session come with its first call.
                                ((or (and (plist-get agent :client) (plist-get agent :sessions))
                                     (> looks 4))
                                 (swank-mcp--say connection
                                                 (format "; swank-mcp: %s works in this Lisp now"
                                                         (swank-mcp--label agent)))
                                 (list id (swank-mcp--label agent) nil))
                                (t (list id (swank-mcp--label agent) (1+ looks))))))
                      agents)))
    (dolist (old known)
      (when (and (null (nth 2 old)) (not (assoc (car old) now)))
        (swank-mcp--say connection (format "; swank-mcp: %s has left" (nth 1 old)))))
    (swank-mcp--put connection :known now)))

(defun swank-mcp--say (connection line)
  "Write LINE into the REPL of CONNECTION, above the prompt."
  (when swank-mcp-announce
    (if (swank-mcp--sly-p connection)
        (let ((buffer (and (fboundp 'sly-mrepl--find-buffer) (sly-mrepl--find-buffer connection))))
          (when buffer
            (with-current-buffer buffer (sly-mrepl--insert-output (concat line "\n")))))
      (let* ((slime-dispatching-connection connection)
             (buffer (and (fboundp 'slime-repl-emit) (slime-connection-output-buffer))))
        (when (buffer-live-p buffer)
          (slime-repl-emit (concat (swank-mcp--line-break buffer) line "\n")))))))

(defun swank-mcp--line-break (buffer)
  "What SLIME's REPL in BUFFER needs so that output begins on a new line."
  (with-current-buffer buffer
    (save-excursion
      (goto-char slime-output-end)
      (cond ((bolp) "")
            ((eq ?\n (char-after)) (set-marker slime-output-end (1+ (point))) "")
            (t "\n")))))

;;; The lamp

(defvar swank-mcp-lamp-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] #'swank-mcp-history)
    map)
  "Keys on the lamp.")

(defun swank-mcp--who-of (agents evaluations)
  "How the lamp names those of AGENTS whose EVALUATIONS are meant."
  (let ((clients (delete-dups (seq-filter #'stringp (mapcar (lambda (e) (plist-get e :client)) evaluations)))))
    (cond ((null (cdr agents)) "agent")
          ((null clients) (format "%d agents" (length agents)))
          ((cdr clients) (format "%d of %d agents" (length clients) (length agents)))
          ;; A percent sign would mean something in a mode line.
          (t (replace-regexp-in-string "%" "%%" (truncate-string-to-width (car clients) 30 nil nil t)
                                       t t)))))

(defun swank-mcp--lamp-text (state)
  "Return what is to be seen of STATE: (TEXT . FACE), or nil."
  (let* ((agents (plist-get state :agents)) (running (plist-get state :running))
         (suspended (plist-get state :suspended)) (asks (plist-get state :asks))
         (seconds (mapcar (lambda (e) (or (plist-get e :seconds) 0)) running)))
    (cond ((null agents) nil)
          (asks (cons (if (and (cdr agents) (not (stringp asks)))
                          (concat (swank-mcp--who-of agents nil) " wait for you")
                        (concat (swank-mcp--who-of agents (list (list :client asks))) " waits for you"))
                      'swank-mcp-asks))
          ((plist-get state :paused)
           (cons (concat (swank-mcp--who-of agents nil) " paused") 'swank-mcp-paused))
          (running (cons (format "%s working %ds" (swank-mcp--who-of agents running)
                                 (floor (apply #'max seconds)))
                         'swank-mcp-working))
          (suspended (cons (concat (swank-mcp--who-of agents suspended) " suspended")
                           'swank-mcp-suspended))
          (t (cons (concat (swank-mcp--who-of agents nil) " idle") 'swank-mcp-idle)))))

(defun swank-mcp--lamp-help (state)
  "Return the text under the mouse for STATE."
  (concat
   (mapconcat #'swank-mcp--label (plist-get state :agents) "\n")
   (mapconcat (lambda (e) (format "\n%s %s: %s" (or (plist-get e :number) "")
                                  (or (plist-get e :client) "") (plist-get e :code)))
              (append (plist-get state :running) (plist-get state :suspended)) "")
   "\nmouse-1: what agents have done"))

(defun swank-mcp--lamp ()
  "The lamp for the mode line of the current buffer."
  (let* ((connection (ignore-errors (swank-mcp--connection)))
         (state (and connection (swank-mcp--get connection :state)))
         (text (swank-mcp--lamp-text state)))
    (if text
        (concat " " (propertize (concat "[" (car text) "]") 'face (cdr text)
                                'help-echo (swank-mcp--lamp-help state)
                                'mouse-face 'mode-line-highlight
                                'local-map swank-mcp-lamp-map))
      "")))

(defvar swank-mcp--mode-line '(swank-mcp-mode (:eval (swank-mcp--lamp)))
  "The lamp in `mode-line-misc-info'.")
(put 'swank-mcp--mode-line 'risky-local-variable t)

(defvar swank-mcp-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map [remap sly-edit-definition] #'swank-mcp-sly-edit-definition)
    map)
  "Keys of `swank-mcp-mode'.")

;;;###autoload
(define-minor-mode swank-mcp-mode
  "Show in the mode line what agents do in the connected Lisp.
Lines in the REPL say when an agent comes and goes, and \\`M-.' finds what
agents have defined.  While no agent is connected, the Lisp is asked nothing."
  :global t
  (cond (swank-mcp-mode
         (add-to-list 'mode-line-misc-info swank-mcp--mode-line t)
         (add-hook 'slime-event-hooks #'swank-mcp--slime-event)
         (add-hook 'sly-event-hooks #'swank-mcp--sly-event)
         (add-hook 'slime-connected-hook #'swank-mcp--slime-connected)
         (add-hook 'sly-connected-hook #'swank-mcp--sly-connected)
         (add-hook 'slime-edit-definition-hooks #'swank-mcp--slime-edit-definition)
         (mapc #'swank-mcp--watch (swank-mcp--connections)))
        (t
         (setq mode-line-misc-info (delete swank-mcp--mode-line mode-line-misc-info))
         (swank-mcp--end-timer)
         ;; The two for events stay: the Lisp goes on telling, and they keep it quiet.
         (remove-hook 'slime-connected-hook #'swank-mcp--slime-connected)
         (remove-hook 'sly-connected-hook #'swank-mcp--sly-connected)
         (remove-hook 'slime-edit-definition-hooks #'swank-mcp--slime-edit-definition)
         (force-mode-line-update t))))

;;; Letting agents in

(defconst swank-mcp--load-swank
  '(cl:or (cl:find-package "SWANK")
          (cl:ignore-errors
           (cl:funcall (cl:find-symbol "QUICKLOAD" "QL") "swank" :silent cl:t)
           (cl:find-package "SWANK"))
          (cl:ignore-errors
           (cl:funcall (cl:find-symbol "LOAD-SYSTEM" "ASDF") "swank")
           (cl:find-package "SWANK")))
  "A form that is true when Swank is loaded.  Sly has another server.")

(defun swank-mcp--share-form (port)
  "A form that opens PORT for agents, on this machine only; its value is the port."
  `(cl:let ((cl:*standard-output* (cl:make-broadcast-stream))
            (cl:*error-output* (cl:make-broadcast-stream)))
     (cl:if ,swank-mcp--load-swank
            (cl:values
             (cl:ignore-errors
              (cl:funcall (cl:find-symbol "CREATE-SERVER" "SWANK")
                          :port ,port :dont-close cl:t :interface "127.0.0.1")))
            :no-swank)))

;;;###autoload
(defun swank-mcp-share (&optional port)
  "Let agents into the connected Lisp, and copy the command that registers it.
This opens a port for this machine only: PORT, which a prefix argument gives, or
one that is free.  A Lisp that has such a port keeps it."
  (interactive "P")
  (unless swank-mcp-mode (swank-mcp-mode))
  (let* ((connection (swank-mcp--connection-or-error))
         (open (swank-mcp--get connection :port)))
    (if (and open (not port))
        (swank-mcp--share-port connection open)
      (swank-mcp--send connection (swank-mcp--share-form (if port (prefix-numeric-value port) 0))
                       (lambda (port)
                         (cond ((integerp port) (swank-mcp--share-port connection port))
                               ((eq port :no-swank)
                                (message "Agents need Swank in this Lisp: (ql:quickload :swank), then share again"))
                               (t (message "The port could not be opened; is another program using it?"))))))))

(defun swank-mcp--share-port (connection port)
  "Copy the command that registers PORT of the Lisp of CONNECTION."
  (let ((command (format swank-mcp-register-command (format "127.0.0.1:%d" port))))
    (swank-mcp--put connection :port port)
    (swank-mcp--watch connection)
    (kill-new command)
    (message "Copied: %s" command)))

;;; Steering

;;;###autoload
(defun swank-mcp-stop (&optional number)
  "Stop what agents evaluate in the connected Lisp.
With a prefix argument stop the evaluation of that NUMBER alone.
The agents read that it was you."
  (interactive "P")
  (let ((connection (swank-mcp--connection-or-error)))
    (apply #'swank-mcp--command connection
           (lambda (text) (swank-mcp--tell text) (swank-mcp--look connection))
           "STOP" (and number (list (prefix-numeric-value number))))))

;;;###autoload
(defun swank-mcp-pause ()
  "Have agents wait with what they would evaluate until `swank-mcp-resume'."
  (interactive)
  (let ((connection (swank-mcp--connection-or-error)))
    (swank-mcp--command connection
                        (lambda (text) (swank-mcp--tell text) (swank-mcp--look connection))
                        "PAUSE")))

;;;###autoload
(defun swank-mcp-resume ()
  "Let agents go on that wait because of `swank-mcp-pause'."
  (interactive)
  (let ((connection (swank-mcp--connection-or-error)))
    (swank-mcp--command connection
                        (lambda (text) (swank-mcp--tell text) (swank-mcp--look connection))
                        "RESUME")))

;;;###autoload
(defun swank-mcp-take-over (&optional number)
  "Open the debugger of an agent's suspended evaluation, in its thread.
It is that of NUMBER, which a prefix argument gives, or the newest.  Leaving the
debugger by \\`q' leaves the evaluation to the agent."
  (interactive "P")
  (apply #'swank-mcp--command (swank-mcp--connection-or-error) #'swank-mcp--tell
         "TAKE-OVER" (and number (list (prefix-numeric-value number)))))

;;;###autoload
(defun swank-mcp-ask (policy)
  "Say by POLICY what agents may do without asking you.
This is everything, new or nothing.  With new they ask before they redefine
what is not theirs, with nothing before each evaluation."
  (interactive
   (list (completing-read "Agents may do without asking (default new): " '("everything" "new" "nothing")
                          nil t nil nil "new")))
  (let ((connection (swank-mcp--connection-or-error)))
    (swank-mcp--command connection
                        (lambda (text)
                          (swank-mcp--tell
                           (cond ((not (string-empty-p text)) text)
                                 ((equal policy "everything") "Agents need no yes of yours")
                                 ((equal policy "new") "Agents need your yes to redefine what is not theirs")
                                 (t "Agents need your yes for each evaluation"))))
                        "ALLOW" (intern (concat ":" policy)))))

;;; Handing over

(defun swank-mcp--inspected-form (connection)
  "A form for the object at point in the inspector of CONNECTION.
If there is none at point, it is for the inspected object."
  (if (swank-mcp--sly-p connection)
      (let* ((button (button-at (point))) (part (car (and button (button-get button 'part-args)))))
        (if (integerp part)
            `(cl:values (slynk:inspector-nth-part ,part))
          '(slynk::istate.object (slynk::current-istate))))
    (let ((part (get-text-property (point) 'slime-part-number)))
      (if (integerp part)
          `(cl:values (swank:inspector-nth-part ,part))
        '(swank::istate.object swank::*istate*)))))

(defun swank-mcp--shown-code (start end)
  "The arguments of SHOW-CODE for the text from START to END."
  `(,(buffer-substring-no-properties start end)
    ,@(and buffer-file-name (list :file buffer-file-name))
    :line ,(line-number-at-pos start t) :end-line ,(line-number-at-pos (max start (1- end)) t)))

(defun swank-mcp--code-at-point ()
  "Return the bounds of the region, or else of the top-level form at point."
  (if (use-region-p)
      (cons (region-beginning) (region-end))
    (save-excursion
      (end-of-defun)
      (let ((end (point)))
        (beginning-of-defun)
        (cons (point) (save-excursion (goto-char end) (skip-chars-backward " \t\n") (point)))))))

;;;###autoload
(defun swank-mcp-show ()
  "Show the agents what you look at: their next reply begins with it.
In a debugger this is your error, in an inspector the object at point, and
elsewhere the region, or the top-level form at point."
  (interactive)
  (let ((connection (swank-mcp--connection-or-error)))
    (cond ((derived-mode-p 'sldb-mode)
           (swank-mcp--command connection #'swank-mcp--tell "SHOW-ERROR"
                               `(swank/backend:find-thread ,slime-current-thread)))
          ((derived-mode-p 'sly-db-mode)
           (swank-mcp--send connection
                            (swank-mcp--command-form "SHOW" '(slynk::*slynk-debugger-condition*))
                            (lambda (answer) (swank-mcp--tell (swank-mcp--printed answer)))
                            sly-current-thread))
          ((derived-mode-p 'slime-inspector-mode 'sly-inspector-mode)
           (swank-mcp--command connection #'swank-mcp--tell "SHOW"
                               (swank-mcp--inspected-form connection)))
          (t (let ((bounds (swank-mcp--code-at-point)))
               (apply #'swank-mcp--command connection #'swank-mcp--tell "SHOW-CODE"
                      (swank-mcp--shown-code (car bounds) (cdr bounds)))
               (deactivate-mark))))))

;;; What agents have defined

(defun swank-mcp--file-name (name package)
  "The file for the source of NAME in PACKAGE."
  (expand-file-name
   (concat (replace-regexp-in-string "[^[:alnum:]*+<>=!?._-]" "_"
                             (downcase (concat package "-" name)))
           ".lisp")
   swank-mcp-source-directory))

(defun swank-mcp--source-places (definitions name)
  "Keep the source of DEFINITIONS of NAME in a file.
Return its name and the positions of the sources, in their order."
  (let* ((package (or (plist-get (car definitions) :package) "COMMON-LISP-USER"))
         (file (swank-mcp--file-name name package)) (places '()) old)
    (with-temp-buffer
      (insert ";;; Made by an agent, in no file of yours.\n")
      (setq package nil)
      (dolist (definition definitions)
        (unless (equal package (plist-get definition :package))
          (setq package (plist-get definition :package))
          (insert (format "\n(in-package %S)\n" package)))
        (insert "\n")
        (push (point) places)
        (insert (plist-get definition :source) "\n"))
      (with-file-modes #o700 (make-directory swank-mcp-source-directory t))
      (setq old (and (file-exists-p file)
                     (with-temp-buffer (insert-file-contents file) (buffer-string))))
      (unless (equal old (buffer-string))
        (let ((coding-system-for-write 'utf-8-unix))
          (with-file-modes #o600 (write-region nil nil file nil 'silent)))
        (swank-mcp--forget-sources)
        (let ((buffer (get-file-buffer file)))
          (when (and buffer (not (buffer-modified-p buffer)))
            (with-current-buffer buffer (revert-buffer t t t))))))
    (cons file (nreverse places))))

(defun swank-mcp--forget-sources ()
  "Delete the oldest files of `swank-mcp-source-directory' beyond the bound.
Those that are visited stay."
  (let ((files (sort (directory-files swank-mcp-source-directory t "\\.lisp\\'" t)
                     #'file-newer-than-file-p)))
    (mapc #'delete-file (seq-remove #'get-file-buffer (nthcdr swank-mcp-source-files files)))))

(defun swank-mcp--agent-xrefs (connection name package)
  "Cross references to what agents have made of NAME in PACKAGE.
CONNECTION is that of the Lisp."
  (let* ((found (swank-mcp--wait connection (swank-mcp--look-up "AGENT-DEFINITIONS" name package)))
         ;; One form may have made several.
         (forms (cl-remove-duplicates found :from-end t :test #'equal
                                      :key (lambda (d) (plist-get d :source))))
         (places (and forms (swank-mcp--source-places forms name))))
    (cl-mapcar (lambda (definition place)
                 (list (format "%s %s (session %s)" (plist-get definition :kind) name
                               (plist-get definition :session))
                       `(:location (:file ,(car places)) (:position ,place) nil)))
               forms (cdr places))))

(defun swank-mcp--xrefs (connection name package)
  "Cross references to all definitions of NAME in PACKAGE, or nil.
It is nil if agents have made none of them.  CONNECTION is that of the Lisp."
  (let ((agents (swank-mcp--agent-xrefs connection name package)))
    (when agents
      (append agents
              (seq-remove
               (lambda (xref) (eq :error (car-safe (cadr xref))))
               (swank-mcp--wait connection
                                (if (swank-mcp--sly-p connection)
                                    `(slynk:find-definitions-for-emacs ,name)
                                  `(swank:find-definitions-for-emacs ,name))
                                package))))))

(defun swank-mcp--slime-edit-definition (name &optional where)
  "Go to the definition of NAME if agents have made one; WHERE is as SLIME has it."
  (let ((xrefs (swank-mcp--xrefs (slime-current-connection) name (slime-current-package))))
    (when xrefs
      (slime-edit-definition-cont xrefs name where)
      t)))

(defun swank-mcp-sly-edit-definition (&optional name method)
  "Like `sly-edit-definition' of NAME, also where an agent has made it.
METHOD is as Sly has it."
  (interactive (list (or (and (not current-prefix-arg) (sly-symbol-at-point t))
                         (sly-read-symbol-name "Edit Definition of: "))))
  (let ((xrefs (swank-mcp--xrefs (sly-current-connection) name (sly-current-package))))
    (if (not xrefs)
        (sly-edit-definition name method)
      (sly-push-definition-stack)
      (pcase-let ((`(,single ,files) (sly-analyze-xrefs xrefs)))
        (if single
            (sly--pop-to-source-location (cadr (car xrefs)) method)
          (sly-xref--show-results files 'definition name (sly-current-package)
                                  (cons (selected-window) method)))))))

;;; The history

(defvar-local swank-mcp--history-connection nil
  "The connection of a buffer with a history, or with a part of it.")

(defvar-local swank-mcp--entry nil
  "The entry that a buffer shows.")

(defvar swank-mcp-history-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map tabulated-list-mode-map)
    (define-key map (kbd "RET") #'swank-mcp-history-details)
    (define-key map (kbd "M-.") #'swank-mcp-history-definition)
    (define-key map "=" #'swank-mcp-history-diff)
    (define-key map "u" #'swank-mcp-history-undo)
    (define-key map "k" #'swank-mcp-history-stop)
    (define-key map "t" #'swank-mcp-history-take-over)
    map)
  "Keys of `swank-mcp-history-mode'.")

(define-derived-mode swank-mcp-history-mode tabulated-list-mode "Agents"
  "What agents have done in the connected Lisp, newest last.
\\{swank-mcp-history-mode-map}"
  (setq tabulated-list-padding 1)
  (setq-local revert-buffer-function #'swank-mcp--history-revert)
  (swank-mcp--columns '()))

(defun swank-mcp--columns (entries)
  "Make the columns of the history so that the names of the agents of ENTRIES fit."
  (let ((widest (apply #'max 21 (mapcar (lambda (e) (string-width (swank-mcp--who e))) entries))))
    (setq tabulated-list-format
          (vector '("No" 4 nil :right-align t) '("Time" 8 nil) (list "Agent" (min widest 40) nil)
                  '("Code" 28 nil) '("Outcome" 0 nil)))
    (tabulated-list-init-header)))

(defun swank-mcp--one-line (text)
  "TEXT as one line."
  (string-trim (replace-regexp-in-string "[ \t\r\n]+" " " (or text ""))))

(defun swank-mcp--outcome (entry)
  "What became of ENTRY, in a few words."
  (let ((state (plist-get entry :state)) (values (plist-get entry :values))
        (changed (seq-remove (lambda (c) (plist-get c :new)) (plist-get entry :changes)))
        (undone (seq-some (lambda (remark) (string-match-p "undone" remark))
                          (plist-get entry :remarks))))
    (concat (pcase state
              (:running (propertize "is running" 'face 'swank-mcp-working))
              (:suspended (propertize (format "is suspended at %s" (plist-get entry :type))
                                      'face 'swank-mcp-suspended))
              (:done (if values (concat "=> " (swank-mcp--one-line (car values))) "done"))
              (:error (propertize (format "[ERROR] %s" (plist-get entry :type)) 'face 'error))
              (_ (format "[%s]" (upcase (substring (symbol-name state) 1)))))
            (and changed
                 (propertize (concat (if undone "  undone: " "  redefined ")
                                     (mapconcat (lambda (c) (plist-get c :definition)) changed ", "))
                             'face 'warning)))))

(defun swank-mcp--clock (universal)
  "The Lisp's time UNIVERSAL as a time of day."
  (format-time-string "%H:%M:%S" (- universal 2208988800)))

(defun swank-mcp--who (entry)
  "Who made ENTRY."
  (format "%s (%s)" (or (plist-get entry :client) "agent") (plist-get entry :session)))

(defun swank-mcp--row (entry)
  "ENTRY as a line of the table."
  (let ((tool (plist-get entry :tool)) (code (swank-mcp--one-line (plist-get entry :code))))
    (list entry
          (vector (number-to-string (plist-get entry :number))
                  (swank-mcp--clock (plist-get entry :time))
                  (swank-mcp--who entry)
                  (truncate-string-to-width
                   (if (equal tool "evaluate-lisp") code (concat tool ": " code)) 200)
                  (truncate-string-to-width (swank-mcp--outcome entry) 300)))))

(defun swank-mcp--history-fill (buffer then)
  "Ask for the history and put it into BUFFER, then call THEN there."
  (let ((connection (buffer-local-value 'swank-mcp--history-connection buffer)))
    (unless (process-live-p connection)
      (user-error "This Lisp has gone"))
    (swank-mcp--send
     connection (swank-mcp--look-up "HISTORY-ENTRIES" :count swank-mcp-history-length)
     (lambda (entries)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (let ((number (plist-get (tabulated-list-get-id) :number)))
             (swank-mcp--columns entries)
             (setq tabulated-list-entries (mapcar #'swank-mcp--row entries))
             (tabulated-list-print)
             (swank-mcp--history-go number)
             (unless entries (message "No agent has evaluated anything in this Lisp"))
             (funcall then))))))))

(defun swank-mcp--history-go (number)
  "Go to the line of the entry NUMBER, or to the newest."
  (goto-char (point-min))
  (while (and number (not (eobp))
              (not (equal number (plist-get (tabulated-list-get-id) :number))))
    (forward-line 1))
  (when (or (eobp) (not number))
    (goto-char (point-max))
    (unless (bobp) (forward-line -1)))
  (dolist (window (get-buffer-window-list nil nil t))
    (set-window-point window (point))))

(defun swank-mcp--history-revert (&rest _)
  "Ask for the history again."
  (swank-mcp--history-fill (current-buffer) #'ignore))

;;;###autoload
(defun swank-mcp-history ()
  "Show what agents have done in the connected Lisp, one line each."
  (interactive)
  (let ((connection (swank-mcp--connection-or-error))
        (buffer (get-buffer-create "*swank-mcp history*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'swank-mcp-history-mode) (swank-mcp-history-mode))
      (setq swank-mcp--history-connection connection))
    (pop-to-buffer buffer)
    (swank-mcp--history-fill buffer #'ignore)))

(defun swank-mcp--current-entry ()
  "Return the entry at point, or that of this buffer."
  (or swank-mcp--entry
      (and (derived-mode-p 'swank-mcp-history-mode) (tabulated-list-get-id))
      (user-error "No entry here")))

(defun swank-mcp--insert-block (title text)
  "Insert TEXT under TITLE, if there is any."
  (when (and text (not (string-empty-p text)))
    (insert (propertize (format "[%s]" title) 'face 'bold) "\n" (string-trim-right text) "\n\n")))

(defun swank-mcp--insert-entry (entry)
  "Insert the whole of ENTRY."
  (insert (format "%d at %s: %s, package %s, %s%s%s\n\n" (plist-get entry :number)
                  (swank-mcp--clock (plist-get entry :time)) (swank-mcp--who entry)
                  (or (plist-get entry :package) "of the session") (plist-get entry :tool)
                  (if (plist-get entry :frame) (format ", in frame %s" (plist-get entry :frame)) "")
                  (if (plist-get entry :seconds) (format ", %.3f s" (plist-get entry :seconds)) "")))
  (swank-mcp--insert-block "code" (plist-get entry :code))
  (swank-mcp--insert-block "stdout" (plist-get entry :stdout))
  (swank-mcp--insert-block "stderr" (plist-get entry :stderr))
  (if (eq (plist-get entry :state) :done)
      (insert (mapconcat (lambda (value) (concat "=> " value "\n")) (plist-get entry :values) "") "\n")
    (insert (swank-mcp--outcome entry) "\n" (or (plist-get entry :message) "") "\n\n"))
  (dolist (change (plist-get entry :changes))
    (if (plist-get change :new)
        (insert (format "Defined %s\n\n" (plist-get change :definition)))
      (swank-mcp--insert-block (format "%s was before" (plist-get change :definition))
                               (or (plist-get change :source) "its source is not known"))))
  (dolist (remark (plist-get entry :remarks)) (insert remark "\n")))

(defvar swank-mcp-entry-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "M-.") #'swank-mcp-history-definition)
    (define-key map "=" #'swank-mcp-history-diff)
    (define-key map "u" #'swank-mcp-history-undo)
    map)
  "Keys of `swank-mcp-entry-mode'.")

(define-derived-mode swank-mcp-entry-mode special-mode "Agent"
  "One evaluation of an agent.
\\{swank-mcp-entry-mode-map}")

(defun swank-mcp-history-details ()
  "Show the whole of the entry at point."
  (interactive)
  (let ((entry (swank-mcp--current-entry)) (connection swank-mcp--history-connection)
        (buffer (get-buffer-create "*swank-mcp entry*")))
    (with-current-buffer buffer
      (swank-mcp-entry-mode)
      (setq swank-mcp--entry entry swank-mcp--history-connection connection)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (swank-mcp--insert-entry entry))
      (goto-char (point-min)))
    (pop-to-buffer buffer)))

(defun swank-mcp--choose-change (entry prompt changes)
  "Choose one of several things that ENTRY has changed.
PROMPT is the question, and CHANGES are what there is to choose from."
  (cond ((null changes)
         (user-error "Entry %d has redefined nothing" (plist-get entry :number)))
        ((null (cdr changes)) (car changes))
        (t (let* ((names (mapcar (lambda (c) (plist-get c :definition)) changes))
                  (name (completing-read prompt names nil t nil nil (car names))))
             (nth (seq-position names name) changes)))))

(defun swank-mcp--changed-name (change)
  "The name of what CHANGE has defined."
  (let ((label (plist-get change :definition)))
    (if (string-match "\\`[^ (]+ \\((setf [^)]*)\\|[^ ]+\\)" label)
        (match-string 1 label)
      label)))

(defun swank-mcp-history-definition ()
  "Go to the definition of what the entry at point has defined."
  (interactive)
  (let* ((entry (swank-mcp--current-entry)) (connection swank-mcp--history-connection)
         (changes (plist-get entry :changes))
         (name (swank-mcp--changed-name
                (if changes (swank-mcp--choose-change entry "Definition: " changes)
                  (user-error "Entry %d has defined nothing" (plist-get entry :number)))))
         (package (or (plist-get entry :package) "COMMON-LISP-USER")))
    (if (swank-mcp--sly-p connection)
        (let ((sly-dispatching-connection connection))
          (cl-letf (((symbol-function 'sly-current-package) (lambda (&rest _) package)))
            (swank-mcp-sly-edit-definition name)))
      (let ((slime-dispatching-connection connection)
            (xrefs (swank-mcp--xrefs connection name package)))
        (if xrefs
            (slime-edit-definition-cont xrefs name nil)
          (slime-edit-definition name))))))

(defun swank-mcp--form-defining (name code)
  "The form of CODE that seems to define NAME, or all of CODE."
  (with-temp-buffer
    (insert code)
    (lisp-mode)
    (goto-char (point-min))
    (let ((regexp (concat "([^ \t\n]*def[^ \t\n]*[ \t\n]+(?['\"]?\\([^ \t\n]*::?\\)?"
                          (regexp-quote (replace-regexp-in-string "\\`.*:" "" name)) "\\_>"))
          (case-fold-search t))
      (or (and (re-search-forward regexp nil t)
               (let ((start (match-beginning 0)))
                 (ignore-errors (buffer-substring start (scan-sexps start 1)))))
          code))))

(defun swank-mcp-history-diff ()
  "Show how what the entry at point has redefined was before."
  (interactive)
  (let* ((entry (swank-mcp--current-entry))
         (change (swank-mcp--choose-change
                  entry "Redefined: "
                  (seq-remove (lambda (c) (plist-get c :new)) (plist-get entry :changes))))
         (name (swank-mcp--changed-name change))
         (before (or (plist-get change :source)
                     (user-error "The source of %s before is not known"
                                 (plist-get change :definition))))
         (buffer (get-buffer-create "*swank-mcp diff*")))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (swank-mcp--insert-diff before
                                (swank-mcp--form-defining name (plist-get entry :code))))
      (goto-char (point-min))
      (setq buffer-read-only t)
      (diff-mode))
    (pop-to-buffer buffer)))

(defun swank-mcp--insert-diff (before after)
  "Insert the differences of the texts BEFORE and AFTER."
  (let* ((default-directory temporary-file-directory)
         (old (make-temp-file "before")) (new (make-temp-file "after")))
    (unwind-protect
        (let ((coding-system-for-write 'utf-8-unix) (coding-system-for-read 'utf-8-unix))
          (write-region (concat (string-trim before) "\n") nil old nil 'silent)
          (write-region (concat (string-trim after) "\n") nil new nil 'silent)
          (call-process diff-command nil t nil
                        "-u" "--label" "before" "--label" "after" old new))
      (delete-file old)
      (delete-file new))))

(defun swank-mcp-history-undo ()
  "Put back the definitions that the entry at point has replaced."
  (interactive)
  (let* ((entry (swank-mcp--current-entry)) (number (plist-get entry :number))
         (history (get-buffer "*swank-mcp history*"))
         (changes (seq-remove (lambda (c) (plist-get c :new)) (plist-get entry :changes))))
    (unless changes (user-error "Entry %d has redefined nothing" number))
    (when (y-or-n-p (format "Put back %s? "
                            (mapconcat (lambda (c) (plist-get c :definition)) changes ", ")))
      (swank-mcp--command swank-mcp--history-connection
                          (lambda (text)
                            (swank-mcp--tell text)
                            (when (buffer-live-p history)
                              (swank-mcp--history-fill history #'ignore)))
                          "UNDO-ENTRY" number))))

(defun swank-mcp-history-take-over ()
  "Open the debugger of the suspended evaluation at point."
  (interactive)
  (swank-mcp--command swank-mcp--history-connection #'swank-mcp--tell
                      "TAKE-OVER" (plist-get (swank-mcp--current-entry) :number)))

(defun swank-mcp-history-stop ()
  "Stop the evaluation at point."
  (interactive)
  (let ((buffer (current-buffer)))
    (swank-mcp--command swank-mcp--history-connection
                        (lambda (text)
                          (swank-mcp--tell text)
                          (when (buffer-live-p buffer)
                            (swank-mcp--history-fill buffer #'ignore)))
                        "STOP" (plist-get (swank-mcp--current-entry) :number))))

(provide 'swank-mcp)

;;; swank-mcp.el ends here
