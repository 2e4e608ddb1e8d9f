(:write-string "3
" :repl-result)