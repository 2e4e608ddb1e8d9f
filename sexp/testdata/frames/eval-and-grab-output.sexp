(:return (:ok ("a\\b \"q\" λ😀
" "1
FOO
\"s\"")) 2)