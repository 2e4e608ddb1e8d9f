(:reader-error "(:emacs-rex (nosuch:fn) nil t 99)" "Package NOSUCH does not exist.

  Stream: #<dynamic-extent STRING-INPUT-STREAM (unavailable) from \"(:emacs-...\">")