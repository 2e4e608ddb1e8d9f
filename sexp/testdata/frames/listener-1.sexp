(:write-string "2
" :repl-result)