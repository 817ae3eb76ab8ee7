# SPDX-License-Identifier: Apache-2.0
#
# Prints the clauses of bulkhead_backend.h as elements of a C++ array: the id, and
# the sentences up to the next clause or the end of the comment.
function finish() {
  if (id == "") return
  gsub(/\\/, "\\\\", words)
  gsub(/"/, "\\\"", words)
  printf "{\"%s\", \"%s\"},\n", id, words
  id = ""
}
{
  line = $0
  ends = line ~ /\*\//
  sub(/\*\/.*/, "", line)
  sub(/^ *(\/\*+|\*)? */, "", line)
  sub(/^\/\* */, "", line)
  sub(/ +$/, "", line)
  if (match(line, /^\[[a-z]+-[0-9]+\] /)) {
    finish()
    id = substr(line, 2, RLENGTH - 3)
    words = substr(line, RLENGTH + 1)
  } else if (line == "") {
    finish()
  } else if (id != "") {
    words = words " " line
  }
  if (ends) finish()
}
END { finish() }
