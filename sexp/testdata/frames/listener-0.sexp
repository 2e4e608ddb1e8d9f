(:write-string "
1 ")