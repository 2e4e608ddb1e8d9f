;;; swank-mcp-tests.el --- Tests of swank-mcp.el  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; These tests use a real Lisp, which SLIME or Sly starts, and a real server in it.
;;
;;   SWANK_MCP=bin/swank-mcp emacs -Q --batch -L SLIME -L emacs \
;;     -l emacs/swank-mcp-tests.el -f ert-run-tests-batch-and-exit
;;
;; With SWANK_MCP_SLY=1 and Sly's directories in place of SLIME's they test Sly.  Sly's Lisp
;; needs Swank, too: SWANK_MCP_SWANK is the file swank-loader.lisp.
;; The tests build on each other: they are one session, in the order of their names.

;;; Code:

(require 'ert)
(require 'json)
(require 'swank-mcp)

(defconst swank-mcp-tests-sly (getenv "SWANK_MCP_SLY"))

(defconst swank-mcp-tests-server
  (let ((name (or (getenv "SWANK_MCP") "swank-mcp")))
    (if (file-name-directory name) (expand-file-name name) name))
  "The server; by its full name, as Sly's buffers have directories of their own.")
(if swank-mcp-tests-sly (require 'sly) (require 'slime))

(defvar inferior-lisp-program)
(defvar slime-contribs)
(defvar sly-contribs)
(defvar slime-enable-evaluate-in-emacs)
(defvar slime-repl-input-start-mark)
(declare-function slime "ext:slime" ())
(declare-function slime-setup "ext:slime" (&optional contribs))
(declare-function slime-connected-p "ext:slime" ())
(declare-function slime-output-buffer "ext:slime-repl" (&optional noprompt))
(declare-function slime-repl-current-input "ext:slime-repl" (&optional until-point-p))
(declare-function slime-quit-lisp "ext:slime" (&optional kill))
(declare-function sldb-buffers "ext:slime" (&optional connection))
(declare-function slime-dispatch-event "ext:slime" (event &optional process))
(declare-function slime-mode "ext:slime" (&optional arg))
(declare-function sly-editing-mode "ext:sly" (&optional arg))
(declare-function slime-inspect "ext:slime" (string))
(declare-function sldb-quit "ext:slime" ())
(declare-function sldb-invoke-restart "ext:slime" (&optional number))
(declare-function sly-db-invoke-restart "ext:sly" (restart))
(declare-function sly-inspect "ext:sly" (string &optional inspector-name))
(declare-function sly-db-quit "ext:sly" ())
(declare-function sly "ext:sly" ())
(declare-function sly-setup "ext:sly" (&optional contribs))
(declare-function sly-connected-p "ext:sly" ())
(declare-function sly-db-buffers "ext:sly" (&optional connection))
(declare-function sly-quit-lisp "ext:sly" (&optional kill))
(declare-function sly-mrepl--mark "ext:sly-mrepl" ())

;;; Waiting

(defun swank-mcp-tests--until (what test)
  "Wait until TEST returns non-nil, and return that; WHAT is for people."
  (let ((end (+ (float-time) 45)) value)
    (while (and (not (setq value (funcall test))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (unless value (error "Waited for %s; the REPL:\n%s" what (ignore-errors (swank-mcp-tests--repl))))
    value))

;;; The person

(defun swank-mcp-tests--repl-buffer ()
  "The buffer of the REPL, or nil."
  (if swank-mcp-tests-sly
      (and (fboundp 'sly-mrepl--find-buffer) (sly-mrepl--find-buffer))
    (and (fboundp 'slime-connection-output-buffer) (slime-connection-output-buffer))))

(defun swank-mcp-tests--repl ()
  "The text of the REPL."
  (with-current-buffer (swank-mcp-tests--repl-buffer)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun swank-mcp-tests--input ()
  "What is typed at the prompt."
  (with-current-buffer (swank-mcp-tests--repl-buffer)
    (buffer-substring-no-properties
     (if swank-mcp-tests-sly (sly-mrepl--mark) slime-repl-input-start-mark) (point-max))))

(defun swank-mcp-tests--debuggers ()
  "The buffers of debuggers."
  (if swank-mcp-tests-sly (sly-db-buffers) (sldb-buffers)))

(defun swank-mcp-tests--connect ()
  "Start Lisp as a person does, once, and type half a line."
  (unless (if swank-mcp-tests-sly (sly-connected-p) (slime-connected-p))
    (setq inferior-lisp-program (or (getenv "SWANK_MCP_LISP") "sbcl --noinform --no-sysinit --no-userinit"))
    (cond (swank-mcp-tests-sly (setq sly-contribs '(sly-fancy)) (sly-setup) (sly))
          (t (slime-setup '(slime-fancy)) (slime)))
    (swank-mcp-tests--until "the REPL" (lambda ()
                                         (and (swank-mcp--connection) (swank-mcp-tests--repl-buffer)
                                              (string-match-p "> *\\'" (swank-mcp-tests--repl)))))
    (with-current-buffer (swank-mcp-tests--repl-buffer)
      (goto-char (point-max))
      (insert "(list 1 'half-typed "))))

(defun swank-mcp-tests--lisp (code)
  "The value of CODE, a text of Lisp, in the person's Lisp."
  (swank-mcp--wait (swank-mcp--connection)
                   `(cl:eval (cl:read-from-string ,code))))

(defun swank-mcp-tests--untouched ()
  "What the person types is as they have typed it, and no debugger is open."
  (should (equal (swank-mcp-tests--input) "(list 1 'half-typed "))
  (should-not (swank-mcp-tests--debuggers)))

(defun swank-mcp-tests--lamp ()
  "What the lamp shows."
  (substring-no-properties (swank-mcp--lamp)))

(defun swank-mcp-tests--lamp-is (regexp)
  "Wait until the lamp shows REGEXP."
  (swank-mcp-tests--until (format "%S on the lamp, which shows %S" regexp (swank-mcp-tests--lamp))
                          (lambda () (string-match-p regexp (swank-mcp-tests--lamp)))))

(defmacro swank-mcp-tests--said (regexp &rest body)
  "Evaluate BODY, and wait until a message matches REGEXP."
  (declare (indent 1))
  `(let ((messages '()))
     (cl-letf (((symbol-function 'message)
                (lambda (format &rest arguments)
                  (when format (push (apply #'format-message format arguments) messages)))))
       ,@body
       (swank-mcp-tests--until
        (format "the message %S" ,regexp)
        (lambda () (seq-some (lambda (m) (string-match-p ,regexp m)) messages))))))

;;; The agent

(defvar swank-mcp-tests--agent nil "The server's process.")
(defvar swank-mcp-tests--replies nil "What it has answered: (ID . TEXT).")
(defvar swank-mcp-tests--number 0)

(defun swank-mcp-tests--agent-says (process text)
  "Take the lines of TEXT from PROCESS."
  (let* ((lines (split-string (concat (process-get process 'rest) text) "\n")))
    (process-put process 'rest (car (last lines)))
    (dolist (line (butlast lines))
      (let* ((reply (json-parse-string line :object-type 'alist :array-type 'list))
             (result (alist-get 'result reply)))
        (when (alist-get 'id reply)
          (push (cons (alist-get 'id reply)
                      (or (alist-get 'text (car (alist-get 'content result))) "no text"))
                swank-mcp-tests--replies))))))

(defun swank-mcp-tests--request (method parameters)
  "Send the request METHOD with PARAMETERS; return its number."
  (let ((number (cl-incf swank-mcp-tests--number)))
    (process-send-string swank-mcp-tests--agent
                         (concat (json-encode `((jsonrpc . "2.0") (id . ,number) (method . ,method)
                                                (params . ,parameters)))
                                 "\n"))
    number))

(defun swank-mcp-tests--reply (number)
  "Wait for the reply NUMBER."
  (swank-mcp-tests--until (format "the reply %d" number)
                          (lambda () (alist-get number swank-mcp-tests--replies))))

(defun swank-mcp-tests--evaluate (code &rest arguments)
  "Have the agent send CODE, with ARGUMENTS; return the number of the call."
  (swank-mcp-tests--request "tools/call"
                            `((name . "evaluate-lisp") (arguments . ((code . ,code) ,@arguments)))))

(defun swank-mcp-tests--agent-comes ()
  "Start a server at the port that the person has opened."
  (setq swank-mcp-tests--agent
        (make-process :name "agent" :connection-type 'pipe :noquery t
                      :command (list swank-mcp-tests-server "--attach"
                                     (format "127.0.0.1:%d" (swank-mcp--get (swank-mcp--connection) :port)))
                      :stderr (get-buffer-create "*agent's log*")
                      :filter #'swank-mcp-tests--agent-says))
  (swank-mcp-tests--reply
   (swank-mcp-tests--request "initialize" '((protocolVersion . "2025-06-18") (capabilities . nil)
                                            (clientInfo . ((name . "ert") (version . "1"))))))
  (process-send-string swank-mcp-tests--agent
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"))

;;; The tests

(ert-deftest swank-mcp-test-10-no-agent ()
  "A Lisp in which no agent has been is no error, and is asked nothing."
  (swank-mcp-tests--connect)
  (swank-mcp-mode)
  (swank-mcp-tests--said "No agent has been in this Lisp" (swank-mcp-stop))
  (swank-mcp-tests--said "No agent has evaluated anything" (swank-mcp-history))
  (kill-buffer "*swank-mcp history*")
  (should (equal "" (swank-mcp-tests--lamp)))
  (should-not swank-mcp--timer)
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-20-share ()
  "Sharing opens one port, and copies the command."
  (when swank-mcp-tests-sly
    (swank-mcp-tests--lisp (format "(progn (load %S) (funcall (intern \"INIT\" \"SWANK-LOADER\")) nil)"
                                   (getenv "SWANK_MCP_SWANK"))))
  (swank-mcp-tests--said "Copied: claude mcp add lisp -- swank-mcp --attach 127\\.0\\.0\\.1:[0-9]+"
    (swank-mcp-share))
  (let ((command (current-kill 0)))
    (should (string-match "\\`claude mcp add lisp -- swank-mcp --attach 127\\.0\\.0\\.1:\\([0-9]+\\)\\'" command))
    (delete-process (open-network-stream "try" nil "127.0.0.1" (string-to-number (match-string 1 command))))
    (swank-mcp-tests--said (regexp-quote command) (swank-mcp-share)))
  (swank-mcp-tests--until "the hooks" (lambda () (swank-mcp--get (swank-mcp--connection) :watched)))
  (should-not (swank-mcp-tests--lisp "(find-symbol \"TELL\" \"COMMON-LISP-USER\")"))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-20-hooks-once ()
  "Hooks are asked for once, also while the answer is late; and again, if there was no Swank."
  (with-temp-buffer
    (let ((connection (make-pipe-process :name "no-lisp" :buffer (current-buffer) :noquery t))
          (answers '()))
      (unwind-protect
          (cl-letf (((symbol-function 'swank-mcp--send)
                     (lambda (_connection _form then &rest _) (push then answers)))
                    ((symbol-function 'swank-mcp--look) #'ignore))
            (swank-mcp--watch connection)
            (swank-mcp--watch connection)
            (should (equal 1 (length answers)))
            (funcall (pop answers) nil)
            (swank-mcp--watch connection)
            (should (equal 1 (length answers)))
            (funcall (pop answers) t)
            (swank-mcp--watch connection)
            (should-not answers))
        (delete-process connection)))))

(ert-deftest swank-mcp-test-20-several ()
  "Where there are several agents, the lamp says which of them is meant."
  (let* ((ada '(:client "ada 1" :seconds 3.2 :number 7 :code "(loop)"))
         (bob '(:client "bob 100%" :seconds 1 :number 8 :code "(sleep 1)"))
         (agents '((:id "a" :client "ada 1" :sessions ("default")) (:id "b" :client "bob 100%" :sessions ("default"))
                   (:id "c" :client "ada 1 #2" :sessions ("other")))))
    (cl-flet ((lamp (&rest state) (car (swank-mcp--lamp-text (append (list :agents agents) state)))))
      (should (equal "3 agents idle" (lamp)))
      (should (equal "ada 1 working 3s" (lamp :running (list ada))))
      (should (equal "ada 1 working 3s" (lamp :running (list ada ada))))
      (should (equal "2 of 3 agents working 3s" (lamp :running (list ada bob))))
      (should (equal "bob 100%% suspended" (lamp :suspended (list bob))))
      (should (equal "bob 100%% waits for you" (lamp :running (list ada bob) :asks "bob 100%")))
      (should (equal "3 agents wait for you" (lamp :asks t)))
      (should (equal "3 agents paused" (lamp :running (list ada) :paused t))))
    (should (equal "ada 1 (default)\nbob 100% (default)\nada 1 #2 (other)\n7 ada 1: (loop)\nmouse-1: what agents have done"
                   (swank-mcp--lamp-help (list :agents agents :running (list ada)))))))

(ert-deftest swank-mcp-test-20-columns ()
  "The names of agents are whole in the history, as far as there is room."
  (cl-flet ((header (client)
              (with-temp-buffer
                (swank-mcp-history-mode)
                (let ((entry (list :number 1 :time 4000000000 :client client :session "default" :tool "evaluate-lisp"
                                   :code "(+ 1 2)" :state :done :values '("3"))))
                  (swank-mcp--columns (list entry))
                  (setq tabulated-list-entries (list (swank-mcp--row entry)))
                  (tabulated-list-print)
                  (buffer-string)))))
    (should (string-match-p " wire 1 (default)      (\\+ 1 2)  " (header "wire 1")))
    (should (string-match-p " claude-code 2.0.14 #2 (default) (\\+ 1 2) " (header "claude-code 2.0.14 #2")))
    (should (string-match-p "(\\+ 1 2)" (header (make-string 200 ?x)))))
  (with-temp-buffer
    (swank-mcp-history-mode)
    (swank-mcp--columns (list (list :client (make-string 200 ?x) :session "default")))
    (should (equal 40 (nth 1 (aref tabulated-list-format 2))))))

(ert-deftest swank-mcp-test-30-comes ()
  "When an agent comes the lamp and the REPL say so."
  (swank-mcp-tests--agent-comes)
  (should (string-match-p "=> 3" (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(+ 1 2)"))))
  (swank-mcp-tests--lamp-is "\\` \\[agent idle\\]\\'")
  (swank-mcp-tests--until "the line" (lambda ()
                                       (string-match-p "^; swank-mcp: ert.* (default) works in this Lisp now$"
                                                       (swank-mcp-tests--repl))))
  (should swank-mcp--timer)
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-40-stop ()
  "The lamp counts seconds, and the person stops what runs."
  (let ((call (swank-mcp-tests--evaluate "(loop)")))
    (swank-mcp-tests--lamp-is "agent working [1-9][0-9]*s")
    (swank-mcp-tests--said "Stopping [0-9]+ (default): (loop)" (swank-mcp-stop))
    (should (string-match-p "\\[STOPPED\\] Evaluation stopped by the person" (swank-mcp-tests--reply call))))
  (swank-mcp-tests--lamp-is "agent idle")
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-41-pause ()
  "Calls wait while the person has paused them."
  (swank-mcp-tests--said "wait now" (swank-mcp-pause))
  (swank-mcp-tests--lamp-is "agent paused")
  (let ((call (swank-mcp-tests--evaluate "(list :waited)")))
    (accept-process-output nil 0.5)
    (should-not (alist-get call swank-mcp-tests--replies))
    (swank-mcp-tests--said "go on" (swank-mcp-resume))
    (should (string-match-p "=> (:WAITED)" (swank-mcp-tests--reply call))))
  (swank-mcp-tests--lamp-is "agent idle")
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-42-suspended ()
  "The lamp shows that an evaluation is suspended."
  (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(car 'a)" '(on-error . "debug")))
  (swank-mcp-tests--lamp-is "agent suspended")
  (swank-mcp-tests--reply (swank-mcp-tests--request "tools/call" '((name . "abort-evaluation") (arguments . ((evaluation . 1))))))
  (swank-mcp-tests--lamp-is "agent idle")
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-43-busy ()
  "While the person's own code runs in their REPL, the lamp and the commands work."
  (unless swank-mcp-tests-sly
    (let ((done nil))
      (slime-dispatch-event (list :emacs-rex '(cl:sleep 4) "COMMON-LISP-USER" :repl-thread
                                  (lambda (_) (setq done t)))
                            (swank-mcp--connection))
      (let ((call (swank-mcp-tests--evaluate "(loop)")))
        (swank-mcp-tests--lamp-is "agent working")
        (swank-mcp-tests--said "Stopping" (swank-mcp-stop))
        (should (string-match-p "stopped by the person" (swank-mcp-tests--reply call)))
        (should-not done))
      (swank-mcp-tests--until "the end of the person's code" (lambda () done))))
  (swank-mcp-tests--untouched))

(defun swank-mcp-tests--history ()
  "The text of a fresh history."
  (swank-mcp-history)
  (set-buffer "*swank-mcp history*")
  (setq tabulated-list-entries nil)
  (revert-buffer)
  (swank-mcp-tests--until "the history" (lambda () tabulated-list-entries))
  (buffer-substring-no-properties (point-min) (point-max)))

(ert-deftest swank-mcp-test-50-history ()
  "The history has a line for each evaluation, details, differences, and takes back."
  (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(defun area (w h) (* w h))"))
  (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(print :other)\n(defun area (w h)\n  (+ w h))"))
  (save-window-excursion
    (let ((text (swank-mcp-tests--history)))
      (should (string-match-p " (loop) .*\\[STOPPED\\]" text))
      (should (string-match-p "ert.* (default) .*(defun area (w h) (\\* w h)) .*=> AREA" text))
      (should (string-match-p "(print :other) (defun area .*=> AREA  redefined function AREA" text)))
    (goto-char (point-max))
    (forward-line -1)
    (swank-mcp-history-details)
    (let ((text (buffer-string)))
      (should (string-match-p "\\[code\\]\n(print :other)\n(defun area (w h)\n  (\\+ w h))\n" text))
      (should (string-match-p "\\[stdout\\]\n+:OTHER" text))
      (should (string-match-p "=> AREA\n" text))
      (should (string-match-p "\\[function AREA was before\\]\n(defun area (w h) (\\* w h))\n" text)))
    (swank-mcp-history-diff)
    (should (string-match-p "^-(defun area (w h) (\\* w h))\n\\+(defun area (w h)\n\\+  (\\+ w h))\n" (buffer-string)))
    (should-not (string-match-p "print :other" (buffer-string)))
    (set-buffer "*swank-mcp history*")
    (should-error (progn (goto-char (point-min)) (swank-mcp-history-diff)) :type 'user-error)
    (goto-char (point-max))
    (forward-line -1)
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (should (equal question "Put back function AREA? ")) t)))
      (swank-mcp-tests--said "Put back: function AREA" (swank-mcp-history-undo))))
  (should (equal 12 (swank-mcp-tests--lisp "(cl-user::area 3 4)")))
  (should (string-match-p "The person has undone" (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(area 3 4)"))))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-51-stop-one ()
  "In the history the person stops one evaluation."
  (let ((call (swank-mcp-tests--evaluate "(sleep 1000)")))
    (swank-mcp-tests--lamp-is "agent working")
    (save-window-excursion
      (should (string-match-p "(sleep 1000) .*is running" (swank-mcp-tests--history)))
      (goto-char (point-max))
      (forward-line -1)
      (swank-mcp-tests--said "Stopping" (swank-mcp-history-stop)))
    (should (string-match-p "stopped by the person" (swank-mcp-tests--reply call))))
  (swank-mcp-tests--untouched))

(defun swank-mcp-tests--definition (name)
  "Type \\`M-.' with NAME in a Lisp buffer, and return the text from point on."
  (save-window-excursion
    (with-temp-buffer
      (lisp-mode)
      (if swank-mcp-tests-sly (sly-editing-mode) (slime-mode))
      (insert name)
      (goto-char (point-min))
      (let ((this-command (key-binding (kbd "M-."))) (current-prefix-arg nil))
        (switch-to-buffer (current-buffer))
        (call-interactively this-command)))
    (with-current-buffer (window-buffer)
      (should (buffer-file-name))
      (buffer-substring-no-properties (point) (point-max)))))

(ert-deftest swank-mcp-test-60-definition ()
  "M-. goes to what an agent has defined: it is in a file."
  (let ((swank-mcp-source-directory (make-temp-file "swank-mcp" t)))
    (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(defpackage :shapes (:use :cl)) (in-package :shapes)"))
    (swank-mcp-tests--reply
     (swank-mcp-tests--evaluate "(defstruct box wide)
(defun size (box)
  ;; a comment
  (box-wide box))
(defvar *unit* :cm)"))
    (should (string-prefix-p "(defun size (box)\n  ;; a comment\n  (box-wide box))\n" (swank-mcp-tests--definition "shapes::size")))
    (should (string-prefix-p "(defvar *unit* :cm)" (swank-mcp-tests--definition "shapes::*unit*")))
    (should (string-prefix-p "(defstruct box wide)" (swank-mcp-tests--definition "shapes::box")))
    (with-temp-buffer
      (insert-file-contents (expand-file-name "shapes-shapes__size.lisp" swank-mcp-source-directory))
      (should (string-match-p "^(in-package \"SHAPES\")$" (buffer-string))))
    (should (equal #o600 (file-modes (expand-file-name "shapes-shapes__size.lisp" swank-mcp-source-directory))))
    (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(defun size (box) (list :new box))"))
    (should (string-prefix-p "(defun size (box) (list :new box))\n" (swank-mcp-tests--definition "shapes::size")))
    ;; Old files go, but not those that are visited.
    (let ((old (expand-file-name "old.lisp" swank-mcp-source-directory)) (swank-mcp-source-files 1))
      (write-region "" nil old nil 'silent)
      (set-file-times old (time-subtract nil 3600))
      (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(defun size (box) (list :newer box))"))
      (should (string-prefix-p "(defun size (box) (list :newer box))\n" (swank-mcp-tests--definition "shapes::size")))
      (should-not (file-exists-p old))
      (should (file-exists-p (expand-file-name "shapes-shapes__size.lisp" swank-mcp-source-directory))))
    ;; What the person has in a file is found as before.
    (let ((file (make-temp-file "theirs" nil ".lisp" "\n(cl:in-package :cl-user)\n(defun theirs (x) x)\n")))
      (swank-mcp-tests--lisp (format "(load (compile-file %S))" file))
      (should (string-prefix-p "(defun theirs (x) x)" (swank-mcp-tests--definition "theirs"))))
    (save-window-excursion
      (swank-mcp-tests--history)
      (goto-char (point-max))
      (forward-line -1)
      (swank-mcp-history-definition)
      (should (string-match-p "(defun size (box) (list :newer box))" (buffer-string)))))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-70-show ()
  "The person hands over code, an object in the inspector, and their error."
  (with-temp-buffer
    (lisp-mode)
    (insert "(first)\n\n(defun second-form ()\n  2)\n\n(third)\n")
    (goto-char (point-min))
    (forward-line 2)
    (swank-mcp-tests--said "The agents' next replies show obj-1" (swank-mcp-show)))
  (should (string-match-p "\\`The person shows you obj-1: code, line 3 to 4\n(defun second-form ()\n  2)\n"
                          (swank-mcp-tests--reply (swank-mcp-tests--evaluate "1"))))
  (save-window-excursion
    (if swank-mcp-tests-sly (sly-inspect "(list :shown 4711)") (slime-inspect "(list :shown 4711)"))
    (swank-mcp-tests--until "the inspector"
                            (lambda () (seq-find (lambda (b) (string-match-p "inspector" (buffer-name b)))
                                                 (buffer-list))))
    (with-current-buffer (seq-find (lambda (b) (string-match-p "inspector" (buffer-name b))) (buffer-list))
      (goto-char (point-max))
      (swank-mcp-tests--said "show obj-2" (swank-mcp-show))
      (goto-char (point-min))
      (search-forward "4711")
      (backward-char 2)
      (swank-mcp-tests--said "show obj-3" (swank-mcp-show))))
  (let ((text (swank-mcp-tests--reply (swank-mcp-tests--evaluate "1"))))
    (should (string-match-p "The person shows you obj-2: .*(:SHOWN 4711)" text))
    (should (string-match-p "The person shows you obj-3: .* 4711\n" text)))
  (swank-mcp--send (swank-mcp--connection) '(cl:error "theirs") #'ignore)
  (let ((debugger (swank-mcp-tests--until "the debugger" (lambda () (car (swank-mcp-tests--debuggers))))))
    (with-current-buffer debugger
      (let ((text (swank-mcp-tests--until "its text" (lambda () (and (> (buffer-size) 100) (buffer-string))))))
        (swank-mcp-tests--said "show obj-4" (swank-mcp-show))
        (should (string-match-p "The person shows you obj-4: .*theirs"
                                (replace-regexp-in-string
                                 "\n" " " (swank-mcp-tests--reply (swank-mcp-tests--evaluate "1")))))
        (should (equal text (buffer-string))))
      (if swank-mcp-tests-sly (sly-db-quit) (sldb-quit)))
    (swank-mcp-tests--until "its end" (lambda () (null (swank-mcp-tests--debuggers)))))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-71-ask ()
  "The person is asked before an agent evaluates."
  (swank-mcp-tests--said "for each evaluation" (swank-mcp-ask "nothing"))
  (let ((asked '()) (answer t))
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) answer)))
      (should (string-match-p "=> :DONE" (swank-mcp-tests--reply (swank-mcp-tests--evaluate ":done"))))
      (setq answer nil)
      (should (string-match-p "NOT-ALLOWED" (swank-mcp-tests--reply (swank-mcp-tests--evaluate ":not-done")))))
    (should (= 2 (length asked)))
    (should (string-match-p "evaluates: :not-done" (car asked))))
  (swank-mcp-tests--said "no yes of yours" (swank-mcp-ask "everything"))
  (should (string-match-p "=> :DONE" (swank-mcp-tests--reply (swank-mcp-tests--evaluate ":done"))))
  (swank-mcp-tests--untouched))

(defun swank-mcp-tests--debugger (command)
  "Take an evaluation over and do COMMAND in the debugger; return its text."
  (swank-mcp-tests--said "In your debugger" (swank-mcp-take-over))
  (let (text)
    (with-current-buffer (swank-mcp-tests--until "the debugger" (lambda () (car (swank-mcp-tests--debuggers))))
      (swank-mcp-tests--until "the backtrace" (lambda ()
                                                (setq text (buffer-substring-no-properties (point-min) (point-max)))
                                                (string-match-p "Backtrace:\\(.\\|\n\\)*0:" text)))
      (funcall command))
    (swank-mcp-tests--until "the debugger's end" (lambda () (not (swank-mcp-tests--debuggers))))
    text))

(defun swank-mcp-tests--invoke (name)
  "Invoke the restart NAME in the debugger of this buffer."
  (goto-char (point-min))
  (re-search-forward (concat "\\([0-9]+\\): \\[\\*?" name "\\]"))
  (let ((number (string-to-number (match-string 1))))
    (if swank-mcp-tests-sly (sly-db-invoke-restart number) (sldb-invoke-restart number))))

(ert-deftest swank-mcp-test-72-take-over ()
  "The person goes on with a suspended evaluation, in their debugger."
  (swank-mcp-tests--reply
   (swank-mcp-tests--evaluate "(defun ert-share (n) (declare (optimize debug)) (restart-case (list (/ 10 n)) (give-two () 2)))"))
  (swank-mcp-tests--reply (swank-mcp-tests--evaluate "(list (ert-share 0) :shared)" '(on-error . "debug")))
  (swank-mcp-tests--lamp-is "agent suspended")
  (let* ((text (swank-mcp-tests--debugger (lambda () (if swank-mcp-tests-sly (sly-db-quit) (sldb-quit)))))
         (frames (substring text (string-match "Backtrace:" text))))
    (should (string-match-p "DIVISION-BY-ZERO" text))
    (should (string-match-p "Leave it suspended, for the agent" text))
    (should (string-match-p "ERT-SHARE 0)" frames))
    (should-not (string-match-p "SWANK\\|SLYNK\\|EVAL\\|THREAD" frames)))
  (swank-mcp-tests--lamp-is "agent suspended")
  (swank-mcp-tests--debugger (lambda () (swank-mcp-tests--invoke "GIVE-TWO")))
  (swank-mcp-tests--lamp-is "agent idle")
  (should (string-match-p "The person took it over, and it ended with the value (2 :SHARED)"
                          (swank-mcp-tests--reply (swank-mcp-tests--evaluate ":next"))))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-80-goes ()
  "When the agent goes the lamp and the REPL say so, and nothing is asked any more."
  (process-send-eof swank-mcp-tests--agent)
  (swank-mcp-tests--until "the line" (lambda () (string-match-p "^; swank-mcp: ert.* (default) has left$" (swank-mcp-tests--repl))))
  (should (equal "" (swank-mcp-tests--lamp)))
  (let ((swank-mcp--patience 0)) (swank-mcp--expect (swank-mcp--connection)))
  (swank-mcp-tests--until "the end of the timer" (lambda () (not swank-mcp--timer)))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-81-killed ()
  "An agent whose server is killed has left, too."
  (swank-mcp-tests--agent-comes)
  (swank-mcp-tests--evaluate "(sleep 1000)")
  (swank-mcp-tests--lamp-is "agent working")
  (signal-process swank-mcp-tests--agent 'KILL)
  (swank-mcp-tests--lamp-is "\\`\\'")
  (swank-mcp-tests--until "the lines"
                          (lambda ()
                            (string-match-p "has left\\(.\\|\n\\)*works in this Lisp now\\(.\\|\n\\)*has left"
                                            (swank-mcp-tests--repl))))
  (swank-mcp-tests--untouched))

(ert-deftest swank-mcp-test-90-off ()
  "Without the mode nothing is left in Emacs but what keeps the Lisp's messages quiet."
  (swank-mcp-mode -1)
  (should-not (member swank-mcp--mode-line mode-line-misc-info))
  (should-not swank-mcp--timer)
  (swank-mcp-tests--untouched)
  (with-current-buffer (swank-mcp-tests--repl-buffer)
    (if swank-mcp-tests-sly (sly-quit-lisp t) (slime-quit-lisp t))))

(provide 'swank-mcp-tests)

;;; swank-mcp-tests.el ends here
