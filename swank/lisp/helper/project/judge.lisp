;;;; judge.lisp -- suspicions about the project, which the table of a fresh image settles
;;;;
;;;; What the text of files and SBCL's records tell of a fresh image is a suspicion: macros may
;;;; define anything.  A fresh image of the files as they are shows what is so.  Until one has, only
;;;; what is certain is said.

(cl:in-package #:swank-mcp)

(defun project-state (comparison)
  "A text that names the content of the project's files: of the systems, and of their definitions."
  (let ((text (with-output-to-string (out)
                (dolist (name (comparison-systems comparison))
                  (let* ((file (definition-file (primary-name name)))
                         (version (and file (file-version (native-name file)))))
                    (format out "~A ~A~%" name (and version (version-code version)))))
                (loop for (file) in (comparison-sources comparison)
                      for version = (gethash file (comparison-files comparison))
                      do (format out "~A ~A~%" file (and version (version-code version)))))))
    (format nil "~36R" (text-code (coerce text '(simple-array character (*)))))))

(defun current-table (comparison)
  "The TABLE of the files as they are, or NIL if no fresh image has shown that."
  (and *table* (equal (table-state *table*) (project-state comparison)) *table*))

(defun in-table (key table)
  "Whether the fresh image of TABLE, which may be NIL, has the definition KEY: :THERE; :NONE, if it has loaded
all files; or :UNKNOWN, if that did not come so far, or nobody has asked."
  (let ((spelling (and table (with-key-syntax (key-spelling key)))))
    (cond ((null spelling) :unknown)
          ((or (nth-value 1 (gethash spelling (table-labels table)))
               (gethash spelling (table-wanted table)))
           :there)
          ((table-failure table) :unknown)
          ((or (nth-value 1 (gethash spelling (table-wanted table)))
               (told-package-p key table))
           :none)
          (t :unknown))))

(defun told-package-p (key table)
  "True if TABLE has all definitions for names of the package that has the name of the definition KEY."
  (let ((symbol (key-symbol key)))
    (and (symbolp symbol)
         (member (package-name (symbol-package symbol)) (table-packages table) :test #'string=))))

(defun counted-otherwise-p (finding table)
  "True if a macro has made the definition that FINDING is on, and TABLE has one whose name ends in
another number."
  (let ((key (first (finding-keys finding))))
    (and (null (finding-certain finding)) ; it is no evaluation's
         (not (gethash key *scanned-keys*))
         (let ((stem (numbered-stem (with-key-syntax (key-spelling key)))))
           (and stem (gethash stem (table-stems table)))))))

(defvar *fingerprints-of-code*
  (make-hash-table :test 'eq #+sbcl :weakness #+sbcl :key #+sbcl :synchronized #+sbcl t)
  "Functions to their CODE-FINGERPRINTs.")

(defun other-code-p (key table)
  "True if TABLE has another code of the function KEY than the image."
  (let* ((fresh (gethash (with-key-syntax (key-spelling key)) (table-codes table)))
         (function (and fresh (key-function key)))
         (own (and function
                   (or (gethash function *fingerprints-of-code*)
                       (setf (gethash function *fingerprints-of-code*) (code-fingerprint function))))))
    (and own (/= fresh own))))

(defun settle-alone (finding table)
  "FINDING, on a definition that the image may have alone; what is certain of it, or NIL."
  (flet ((say (kind text)
           (and text
                (make-finding :kind kind :names (finding-names finding) :keys (finding-keys finding)
                              :object (finding-object finding) :text text))))
    (ecase (in-table (first (finding-keys finding)) table)
      (:there (say :live (finding-again finding)))
      (:none (unless (counted-otherwise-p finding table) finding))
      (:unknown (destructuring-bind (&optional kind . text) (finding-certain finding) (say kind text))))))

(defun settle-stale (findings table comparison)
  "The FINDINGs that TABLE leaves of the suspicions FINDINGS, one for all functions that are older than the
same changes.  An image that has loaded all compiles some functions otherwise than a fresh one, so another
code alone is no sign."
  (let ((groups '()) (forms nil))
    (dolist (finding (and table findings))
      (let ((key (first (finding-keys finding))))
        (when (other-code-p key table)
          (unless forms (setf forms (forms-by-name comparison)))
          (let* ((changed (named-changes key (finding-object finding) forms comparison))
                 (group (assoc (labels-of changed) groups :test #'equal)))
            (cond ((null changed))
                  (group (push key (third group)))
                  (t (push (list (labels-of changed) changed (list key)) groups)))))))
    (loop for (nil changed keys) in (nreverse groups) collect (stale-finding keys changed comparison))))

(defun settle-exports (finding table comparison)
  (destructuring-bind (key extra missing) (finding-object finding)
    (let* ((there (and table (gethash (cdr key) (table-exports table))))
           (knownp (or there (and table (null (table-failure table))))))
      (flet ((there-p (name) (member name there :test #'string=)))
        (export-finding key
                        (and knownp (remove-if #'there-p extra))
                        (if knownp (remove-if-not #'there-p missing) missing)
                        comparison)))))

(defun settled (finding table comparison)
  "FINDING, or what TABLE, which may be NIL, has left of it; NIL if nothing is."
  (case (finding-kind finding)
    ((:called :alone) (settle-alone finding table))
    (:stale nil)                        ; see SETTLE-STALE
    (:made nil)                         ; see FRESH-ONLY-FINDINGS
    (:exports (settle-exports finding table comparison))
    (t finding)))

(defun in-order (findings)
  (stable-sort findings #'< :key (lambda (finding) (position (finding-kind finding) *finding-kinds*))))

(defun judged (findings table comparison)
  "FINDINGS as TABLE, which may be NIL, settles them, and what it alone shows, in their order."
  (in-order (append (loop for finding in findings
                          for left = (settled finding table comparison)
                          when left collect left)
                    (settle-stale (of-kinds '(:stale) findings) table comparison)
                    (failure-findings table)
                    (fresh-only-findings comparison table))))

;;; What only the table tells

(defun failure-findings (table)
  (let ((failure (and table (table-failure table))))
    (when failure
      (list (make-finding :kind :fails
                          :text (format nil "a fresh image does not load the files: ~A" failure))))))

(defun image-texts (comparison)
  "A table of the KEY-SPELLINGs of the definitions that the image has in the project's packages, and from
their NUMBERED-STEMs to how many have each."
  (let ((texts (make-hash-table :test 'equal)))
    (dolist (package (comparison-packages comparison) texts)
      (call-with-package-keys package (lambda (key)
                                        (let ((text (key-spelling key)))
                                          (when text
                                            (setf (gethash text texts) t)
                                            (incf (gethash (numbered-stem text) texts 0)))))))))

(defun fresh-only-findings (comparison table)
  "What the files define in a fresh image, and the image does not have, but for what the scanned
files define: other lines tell of that.  Of names that differ by a number the image may have others, not
fewer."
  (when (and table (null (table-failure table)))
    (let ((texts (with-key-syntax (image-texts comparison)))
          (known (make-hash-table :test 'equal)) (labels '()))
      (loop for key being the hash-keys of (comparison-disk comparison)
            do (setf (gethash (label-of key) known) t))
      (loop for text being the hash-keys of (table-labels table) using (hash-value label)
            unless (or (gethash text texts) (gethash label known)
                       (let ((stem (numbered-stem text)))
                         (and stem (>= (gethash stem texts 0) (gethash stem (table-stems table))))))
              do (pushnew label labels :test #'string=))
      (when labels
        (list (make-finding :kind :fresh-only :names labels
                            :text (format nil "a fresh image has ~A, which the image does not have"
                                          (few (sort labels #'string<)))))))))

;;; What is to be asked

(defun questions (findings comparison table)
  "What a fresh image is to be asked for FINDINGS, as the bridge takes it; NIL if nothing is left to
ask, TABLE being what is known."
  (flet ((texts (kinds)
           (remove-duplicates
            (with-key-syntax
              (loop for finding in (of-kinds kinds findings)
                    append (remove nil (mapcar #'key-spelling (finding-keys finding)))))
            :test #'string=)))
    (let ((codes (texts '(:stale))) (alone (of-kinds '(:called :alone) findings)))
      (flet ((code-told-p (text) (nth-value 1 (gethash text (table-codes table))))
             (told-p (finding)
               (let ((key (first (finding-keys finding))))
                 (or (null (with-key-syntax (key-spelling key))) ; nobody can ask for it
                     (not (eq :unknown (in-table key table)))))))
        (when (and findings
                   (not (and table
                             (or (table-failure table)
                                 (and (every #'code-told-p codes) (every #'told-p alone))))))
          (list :state (project-state comparison)
                :systems (topmost-systems comparison)
                :packages (mapcar #'package-name (comparison-packages comparison))
                :wanted (texts '(:called :alone)) :codes codes))))))

(defun topmost-systems (comparison)
  "Those of the project's loaded systems that no other one of them needs."
  (let ((names (comparison-systems comparison)))
    (remove-if (lambda (name)
                 (some (lambda (other) (and (string/= other name) (depends-on-p other name))) names))
               names)))
