;;;; users.lisp -- functions that may have been compiled with an older definition of something
;;;;
;;;; The code of a function has in it what macros have expanded to, and what is inlined: types,
;;;; constants, slots of structures, functions, and what macros call as they expand.  So each function
;;;; that is older than a change of anything is suspected.  A fresh image, which compiles it anew, shows
;;;; whether its code would be another one.

(cl:in-package #:swank-mcp)

(defun loaded-number (origin)
  "The number of the load from which the definition of ORIGIN came."
  (let ((loaded (loaded-file (origin-file origin))))
    (if loaded (loaded-file-number loaded) 0)))

(defun live-as-loaded-p (verdict origin)
  "True if the text that was evaluated is the one that was loaded."
  (let* ((text (verdict-text verdict)) (form (and text (live-form text (verdict-key verdict)))))
    (and form (eql (source-form-code form) (origin-code origin)))))

(defun changed-since (key origin comparison)
  "Since when the definition KEY of ORIGIN has another text than it had first: :LIVE, the number of a
load, or NIL."
  (let ((verdict (gethash key (comparison-states comparison))) (loaded (loaded-file (origin-file origin))))
    (case (and verdict (verdict-state verdict))
      ((:live :live-same)
       (unless (or (live-as-loaded-p verdict origin) (value-kept-p origin)) :live))
      (t (and loaded
              (> (origin-since origin) (loaded-file-first loaded))
              (origin-since origin))))))

(defun changes (comparison)
  "((KEY . SINCE) ...) of the definitions that have changed since they were loaded first."
  (with-shared-table (*origins*)
    (loop for key being the hash-keys of *origins* using (hash-value origin)
          for since = (changed-since key origin comparison)
          when since collect (cons key since))))

(defun older-p (origin since)
  "True if the definition of ORIGIN was compiled before the change SINCE."
  (or (eq since :live)
      (< (max (loaded-number origin) (origin-since origin)) since)))

(defun changes-before (key changes comparison)
  "The keys in CHANGES that are younger than the function KEY, which a file has as it is."
  (let ((origin (gethash key *origins*)))
    (and origin
         (eq (state-of key comparison) :same)
         (loop for (changed . since) in changes
               when (and (not (equal changed key)) (older-p origin since)) collect changed))))

(defun mentioned (form version names)
  "Those of the symbols that are keys of the table NAMES which FORM of VERSION has."
  (let ((text (version-text version)) (found '()))
    (dolist (token (tokens-in (scan-datum text (source-form-begin form))) found)
      (let ((symbol (token-symbol token (source-form-package form))))
        (when (and symbol (gethash symbol names)) (pushnew symbol found))))))

(defun suspected-users (comparison)
  "((KEY CHANGED ...) ...): functions of the files, and the keys of what has changed since they were
compiled."
  (let ((changes (and *launched* ; a person's image may compile by another policy than a fresh one
                      (changes comparison))))
    (when changes
      (loop for key being the hash-keys of (comparison-disk comparison)
            for changed = (and (member (car key) '(:function :method :compiler-macro))
                               (changes-before key changes comparison))
            when changed collect (cons key changed)))))

(defun named-changes (key changed comparison)
  "Those of the keys CHANGED whose names the form of KEY has on disk; without any, all."
  (destructuring-bind (form . version) (gethash key (comparison-disk comparison))
    (let ((names (make-hash-table :test 'eq)))
      (dolist (other changed)
        (unless (eq (car other) :package) (setf (gethash (key-symbol other) names) t)))
      (let ((found (mentioned form version names)))
        (or (remove-if-not (lambda (other) (member (key-symbol other) found)) changed) changed)))))
