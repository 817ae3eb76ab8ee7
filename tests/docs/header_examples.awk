# SPDX-License-Identifier: Apache-2.0
#
# Makes a class with a function of each example in the comments of C++ headers: lines that are
# indented by five blanks. Lines that begin with `$` are for a shell. Items of lists (`* `)
# continue with five blanks, too, and are no examples.
/^ *\/\/   \* / { item = 1 }
!/^ *\/\/   / { item = 0 }
!item && /^ *\/\/     [^$]/ {
  if (!inside) printf "struct Example%d : Surroundings {\nauto Run() {\n#line %d \"%s\"\n", ++count, FNR, FILENAME
  inside = 1
  sub(/^ *\/\/     /, "")
  print
  next
}
inside { print "}\n};"; inside = 0 }
END {
  if (inside) print "}\n};"
  printf "constexpr int kExamples = %d;\n", count
}
