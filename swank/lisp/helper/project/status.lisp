;;;; status.lisp -- PROJECT-STATUS, and the line at the end of LOAD-SYSTEM and RUN-TESTS

(cl:in-package #:swank-mcp)

(defparameter *max-findings* 1000 "How many lines the bridge gets; it shows the first.")

(defun suspected-findings (comparison)
  "The FINDINGs on COMPARISON, suspicions among them, in their order."
  (in-order (append (alone-findings comparison) (scratch-findings comparison)
                    (live-findings comparison) (made-findings)
                    (stale-findings comparison) (outdated-findings comparison)
                    (missing-findings comparison) (export-findings comparison)
                    (obsolete-findings comparison)
                    (file-findings comparison) (system-findings comparison))))

(defun project-findings (comparison)
  "(VALUES FINDINGS QUESTIONS) on COMPARISON: what is certain or a fresh image has shown, and what one is
to be asked."
  (let ((suspected (suspected-findings comparison)) (table (current-table comparison)))
    (values (judged suspected table comparison) (questions suspected comparison table))))

(defun finding-sources (finding comparison)
  "The source files of the definitions that FINDING is about."
  (or (remove-duplicates (loop for key in (finding-keys finding)
                               for (nil . version) = (gethash key (comparison-disk comparison))
                               when version collect (version-file version))
                         :test #'string=)
      (list (finding-file finding))))

(defun needs-force-p (finding comparison)
  "True if nothing has changed on disk that would have ASDF end FINDING."
  (and (member (finding-kind finding) '(:stale :missing))
       (loop for file in (finding-sources finding comparison)
             for component = (cdr (assoc file (comparison-sources comparison) :test #'equal))
             thereis (not (and component
                               (done-again-p component (eq (finding-kind finding) :missing)))))))

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
         (or (and (needs-force-p finding comparison) owner)
             (find-if (lambda (name) (depends-on-p name owner))
                      (reverse (comparison-systems comparison)))
             owner))))

(defun next-call (findings comparison)
  "(TOOL ARGUMENT VALUE FLAG) of the call that helps most with FINDINGS, or NIL; FLAG names an argument
that is to be true, or is \"\"."
  (let ((first (find-if #'finding-next findings))
        (loading (find-if (lambda (finding) (system-to-load finding comparison)) findings))
        (named (find-if (lambda (finding)
                          (member (finding-kind finding) '(:not-again :live :evaluated :left :called :alone)))
                        findings)))
    (cond (first (finding-next first))
          ((of-kinds '(:fails) findings)
           (list "load-system" "system" (first (topmost-systems comparison)) "fresh"))
          (loading (list "load-system" "system" (system-to-load loading comparison)
                         (if (needs-force-p loading comparison) "force" "")))
          (named (list "project-status" "name" (first (finding-names named)) "")))))

(defun project-status (&key (session "default"))
  "Answer (:SYSTEMS (NAME ...) :FILES n :DEFINITIONS n :FINDINGS (TEXT ...) :MORE n
:NEXT (TOOL ARGUMENT VALUE FLAG) :UNJUDGED QUESTIONS) of the project's loaded systems."
  (with-look-up (session)
    (if (null (find-package '#:asdf))
        (list :systems '() :files 0 :definitions 0)
        (let ((comparison (compare-project)))
          (multiple-value-bind (findings questions) (project-findings comparison)
            (plist-without-nils
             :systems (comparison-systems comparison)
             :files (length (comparison-sources comparison))
             :definitions (hash-table-count (comparison-disk comparison))
             :findings (mapcar #'finding-text (first-few findings *max-findings*))
             :more (count-beyond findings *max-findings*)
             :next (next-call findings comparison)
             :unjudged questions))))))

;;; One definition

(defun named-p (key name home)
  "True if the definition KEY is of the symbol that NAME means in HOME, the name of a package, or of any
symbol called NAME if HOME is NIL."
  (let ((symbol (ignore-errors (key-symbol key))) (package (and home (find-package home))))
    (typecase symbol
      (string (string= name (subseq symbol (let ((at (search "::" symbol))) (if at (+ at 2) 0)))))
      (symbol (and (string= name (symbol-name symbol))
                   (or (null home)
                       (null (symbol-package symbol))
                       (and package (eq symbol (find-symbol name package)))))))))

(defun keys-named (text comparison)
  "The keys of the definitions that TEXT may mean: a name as a person writes it, or a LABEL-OF."
  (let* ((setfp (setf-place-name text))
         (token (string-trim "'#" (or setfp text)))
         (wanted (make-hash-table :test 'equal)))
    (multiple-value-bind (name home) (split-token token)
      (flet ((consider (key)
               (when (or (named-p key name home) (string-equal text (label-of key)))
                 (setf (gethash key wanted) t))))
        (loop for key being the hash-keys of (comparison-disk comparison) do (consider key))
        (loop for key being the hash-keys of (comparison-states comparison) do (consider key))))
    (sort (loop for key being the hash-keys of wanted collect key) #'string< :key #'label-of)))

(defparameter *verdict-texts*
  '((:same . "the same in the image and on disk")
    (:live-same . "the same in the image, by an evaluation, and on disk")
    (:live . "different: the image has it from an evaluation")
    (:alone . "in the image only")
    (:unjudged . "from an evaluation, or a file as it was; a fresh image has not been asked for it")
    (:elsewhere . "in the image, and in a fresh one from what the files define by other forms")
    (:loaded . "different: the file has changed since it was loaded")
    (:outdated . "the variable keeps the value that another form gave it")))

(defun judged-state (key verdict table)
  "The state of VERDICT, or NIL; of what the image may have alone, as TABLE shows it."
  (let ((state (and verdict (verdict-state verdict))))
    (if (eq state :alone)
        (ecase (in-table key table) (:there :elsewhere) (:none :alone) (:unknown :unjudged))
        state)))

(defun one-for-wire (key comparison table)
  "(LABEL SAID IMAGE-TEXT IMAGE-PLACE DISK-TEXT DISK-PLACE) of the definition KEY."
  (let* ((verdict (gethash key (comparison-states comparison)))
         (state (judged-state key verdict table))
         (origin (gethash key *origins*))
         (disk (gethash key (comparison-disk comparison)))
         (fromp (and verdict origin (eq (verdict-object verdict) (origin-object origin)))))
    (list (label-of key)
          (cond ((null state) "on disk only")
                ((and (eq state :live) (verdict-file verdict))
                 (format nil "different: the image has it from ~A" (verdict-file verdict)))
                (t (cdr (assoc state *verdict-texts*))))
          (cond ((and verdict (verdict-text verdict)))
                (fromp (origin-text origin))
                (t ""))
          (cond ((and verdict (verdict-text verdict)) "image, by an evaluation")
                (fromp (format nil "image, from ~A" (short-file (origin-file origin))))
                (t "image"))
          (if disk (form-text-of (car disk) (cdr disk)) "")
          (if disk (form-place (car disk) (cdr disk)) "no file"))))

(defun project-definition-texts (name &key (session "default"))
  "Answer (:DEFINITIONS ((LABEL SAID IMAGE-TEXT IMAGE-PLACE DISK-TEXT DISK-PLACE) ...)
:UNJUDGED QUESTIONS) of what NAME means in the project."
  (with-look-up (session)
    (let* ((comparison (compare-project)) (table (current-table comparison))
           (keys (keys-named name comparison)))
      (if keys
          (plist-without-nils
           :definitions (mapcar (lambda (key) (one-for-wire key comparison table)) (first-few keys 10))
           :unjudged (nth-value 1 (project-findings comparison)))
          (fail-lookup "NO-DEFINITION" '()
                       "Neither the files of the project's loaded systems nor the image's packages of them define ~A."
                       name)))))

;;; In a line

(defun names-of (findings) (mapcan (lambda (finding) (copy-list (finding-names finding))) findings))

(defun summary-line (findings)
  "The first of what FINDINGS say in a line, and how many more there are; NIL without any."
  (when findings
    (let* ((kind (finding-kind (first findings)))
           (alike (case kind
                    ((:called :alone) (of-kinds '(:called :alone) findings))
                    ((:evaluated :not-again :left) (of-kinds (list kind) findings))))
           (first (case kind
                    ((:called :alone)
                     (format nil "~D definition~:P ~:*~[~;is~:;are~] in the image only: ~A (a fresh image does not have ~:[it~;them~])"
                             (length alike) (few (names-of alike)) (rest alike)))
                    (:evaluated
                     (format nil "~D definition~:P ~:*~[~;is~:;are~] of an evaluation: ~A (whether the files have ~:[it~;them~], a fresh image tells: project-status)"
                             (length alike) (few (names-of alike)) (rest alike)))
                    (:not-again
                     (format nil "~D definition~:P ~:*~[~;is~:;are~] left of files that were loaded again without ~:*~[~;it~:;them~]: ~A (whether a fresh image has ~:[it~;them~]: project-status)"
                             (length alike) (few (names-of alike)) (rest alike)))
                    (:left
                     (format nil "~D definition~:P ~:*~[~;is~:;are~] from files that no loaded system has: ~A (whether others have ~:[it~;them~], a fresh image tells: project-status)"
                             (length alike) (few (names-of alike)) (rest alike)))
                    (t (finding-text (first findings)))))
           (more (- (length findings) (max 1 (length alike)))))
      (format nil "~A~:[.~;. ~:*~D more: project-status.~]" first (and (plusp more) more)))))

(defun note-project-state (system &key (kinds *finding-kinds*))
  "Have the reply of the current evaluation, which has loaded or tested the project's SYSTEM, or any if that
is NIL, end with a line if the project's systems are not loaded as they are on disk: of what is judged,
and of what is certain, as far as the KINDS of findings go.  In a fresh image nothing else is loaded."
  (let ((line (ignore-errors
               (when (and *evaluation* (null *own-systems*)
                          (or (null system) (project-system-p system)))
                 (summary-line (of-kinds kinds (project-findings (compare-project))))))))
    (when line (push line (evaluation-remarks *evaluation*)))))
