(:return (:ok "COMMON-LISP:MAPCAR
  [symbol]

MAPCAR names a compiled function:
  Lambda-list: (FUNCTION LIST &REST MORE-LISTS)
  Dynamic-extent arguments: positional=(0)
  Declared type: (FUNCTION ((OR FUNCTION SYMBOL) LIST &REST LIST)
                  (VALUES LIST &OPTIONAL))
  Derived type: (FUNCTION (T T &REST T) (VALUES T &OPTIONAL))
  Documentation:
    Apply FUNCTION to successive tuples of elements of LIST and MORE-LISTS.
    Return list of FUNCTION return values.
  Known attributes: call
  Source file: SYS:SRC;CODE;LIST.LISP
") 14)