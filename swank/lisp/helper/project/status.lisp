;;;; status.lisp -- PROJECT-STATUS, and the line at the end of LOAD-SYSTEM and RUN-TESTS

(cl:in-package #:swank-mcp)

(defparameter *max-findings* 25)

(defun project-findings (comparison)
  "The FINDINGs on COMPARISON, the most important first."
  (stable-sort (append (alone-findings comparison) (scratch-findings comparison)
                       (live-findings comparison)
                       (stale-findings comparison) (outdated-findings comparison)
                       (missing-findings comparison) (export-findings comparison)
                       (obsolete-findings comparison)
                       (file-findings comparison) (system-findings comparison))
               #'< :key (lambda (finding) (position (finding-kind finding) *finding-kinds*))))

(defun needs-force-p (finding)
  "True if nothing has changed on disk that would have ASDF end FINDING."
  (and (member (finding-kind finding) '(:stale :missing)) t))

(defun system-to-load (finding comparison)
  "The name of the system whose loading ends FINDING, with all that depends on it; or NIL.  To
force reaches no other system."
  (let* ((file (finding-file finding))
         (owner (and file
                     (find-if (lambda (name)
                                (or (assoc file (system-sources name) :test #'string=)
                                    (same-file-p file (definition-file name))))
                              (comparison-systems comparison)))))
    (and owner
         (or (and (needs-force-p finding) owner)
             (find-if (lambda (name) (depends-on-p name owner))
                      (reverse (comparison-systems comparison)))
             owner))))

(defun name-in-label (label)
  "The name in a LABEL of LABEL-OF, as KEYS-NAMED takes it."
  (let ((before (find-if (lambda (before) (starts-with before label))
                         '("method " "compiler macro " "setf expander " "package "))))
    (if (null before)
        label
        (let ((name (subseq label (length before))))
          (if (starts-with "(SETF " name)
              (subseq name 0 (1+ (position #\) name)))
              (subseq name 0 (position #\space name)))))))

(defun next-call (findings comparison)
  "(TOOL ARGUMENT VALUE FORCEP) of the call that helps most with FINDINGS, or NIL."
  (let ((first (find-if #'finding-next findings))
        (loading (find-if (lambda (finding) (system-to-load finding comparison)) findings))
        (named (find-if (lambda (finding) (member (finding-kind finding) '(:called :alone :live)))
                        findings)))
    (cond (first (finding-next first))
          (loading (list "load-system" "system" (system-to-load loading comparison)
                         (needs-force-p loading)))
          (named (list "project-status" "name" (name-in-label (first (finding-names named))) nil)))))

(defun project-status (&key (session "default"))
  "Answer (:SYSTEMS (NAME ...) :FILES n :DEFINITIONS n :FINDINGS (TEXT ...) :MORE n
:NEXT (TOOL ARGUMENT VALUE FORCEP)) of the project's loaded systems."
  (with-look-up (session)
    (if (null (find-package '#:asdf))
        (list :systems '() :files 0 :definitions 0)
        (let* ((comparison (compare-project)) (findings (project-findings comparison)))
          (plist-without-nils
           :systems (comparison-systems comparison)
           :files (length (comparison-sources comparison))
           :definitions (hash-table-count (comparison-disk comparison))
           :findings (mapcar #'finding-text (first-few findings *max-findings*))
           :more (count-beyond findings *max-findings*)
           :next (next-call findings comparison))))))

;;; One definition

(defun keys-named (text comparison)
  "The keys of the definitions that TEXT, a name as a person writes it, may mean."
  (let* ((setfp (setf-place-name text))
         (token (string-trim "'#" (or setfp text)))
         (wanted (make-hash-table :test 'equal)))
    (multiple-value-bind (name home) (split-token token)
      (flet ((consider (key)
               (let ((symbol (if (eq (car key) :package) (cdr key) (ignore-errors (key-symbol key)))))
                 (when (typecase symbol
                         (string (or (string= symbol name)
                                     (let ((at (search "::" symbol)))
                                       (and at (string= name (subseq symbol (+ at 2)))))))
                         (symbol (and (string= name (symbol-name symbol))
                                      (or (null home) (null (symbol-package symbol))
                                          (eq (find-package home) (symbol-package symbol))))))
                   (setf (gethash key wanted) t)))))
        (loop for key being the hash-keys of (comparison-disk comparison) do (consider key))
        (loop for key being the hash-keys of (comparison-states comparison) do (consider key))))
    (sort (loop for key being the hash-keys of wanted collect key) #'string< :key #'label-of)))

(defparameter *verdict-texts*
  '((:same . "the same in the image and on disk")
    (:live-same . "the same in the image, by an evaluation, and on disk")
    (:live . "different: the image has it from an evaluation")
    (:alone . "in the image only")
    (:loaded . "different: the file has changed since it was loaded")
    (:outdated . "the variable keeps the value that another form gave it")))

(defun one-for-wire (key comparison)
  "(LABEL SAID IMAGE-TEXT IMAGE-PLACE DISK-TEXT DISK-PLACE) of the definition KEY."
  (let* ((verdict (gethash key (comparison-states comparison)))
         (state (and verdict (verdict-state verdict)))
         (origin (gethash key *origins*))
         (disk (gethash key (comparison-disk comparison)))
         (fromp (and verdict origin (eq (verdict-object verdict) (origin-object origin)))))
    (list (label-of key)
          (if state (cdr (assoc state *verdict-texts*)) "on disk only")
          (cond ((and verdict (verdict-text verdict)))
                (fromp (origin-text origin))
                (t ""))
          (cond ((and verdict (verdict-text verdict)) "image, by an evaluation")
                (fromp (format nil "image, from ~A" (short-file (origin-file origin))))
                (t "image"))
          (if disk (form-text-of (car disk) (cdr disk)) "")
          (if disk (form-place (car disk) (cdr disk)) "no file"))))

(defun project-definition-texts (name &key (session "default"))
  "Answer (:DEFINITIONS ((LABEL SAID IMAGE-TEXT IMAGE-PLACE DISK-TEXT DISK-PLACE) ...)) of what NAME
means in the project."
  (with-look-up (session)
    (let* ((comparison (compare-project)) (keys (keys-named name comparison)))
      (if keys
          (list :definitions (mapcar (lambda (key) (one-for-wire key comparison)) (first-few keys 10)))
          (fail-lookup "NO-DEFINITION" '()
                       "Neither the files of the project's loaded systems nor the image's packages of them define ~A."
                       name)))))

;;; In a line

(defun of-kinds (kinds findings)
  (remove-if-not (lambda (finding) (member (finding-kind finding) kinds)) findings))

(defun summary-line (findings)
  "The first of what FINDINGS say in a line, and how many more there are; NIL without any."
  (when findings
    (let* ((alone (of-kinds '(:called :alone) findings))
           (rest (set-difference findings alone))
           (first (if alone
                      (format nil "~D definition~:P ~:*~[~;is~:;are~] in the image only: ~A (no file defines ~:[it~;them~]; a fresh image would ~:[not have ~:[it~;them~]~;fail~*~])"
                              (length alone)
                              (few (mapcan (lambda (finding) (copy-list (finding-names finding))) alone))
                              (rest alone)
                              (of-kinds '(:called) alone)
                              (rest alone))
                      (finding-text (first findings))))
           (more (if alone (length rest) (1- (length findings)))))
      (format nil "~A~:[.~;. ~:*~D more: project-status.~]" first (and (plusp more) more)))))

(defun told-by-orphans-p (finding)
  "True if the reply of the current evaluation tells FINDING as what this load has left behind."
  (and (eq (finding-kind finding) :alone)
       #+sbcl (find (finding-object finding) (evaluation-orphans *evaluation*)
                    :key (lambda (orphan) (sb-ext:weak-pointer-value (orphan-identity orphan))))))

(defun note-project-state ()
  "Have the reply of the current evaluation end with a line if the project's systems are not loaded
as they are on disk.  In a fresh image nothing else is loaded."
  (let ((line (ignore-errors
               (and *evaluation* (null *own-systems*)
                    (summary-line (remove-if #'told-by-orphans-p
                                             (project-findings (compare-project))))))))
    (when line (push line (evaluation-remarks *evaluation*)))))
