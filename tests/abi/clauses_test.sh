#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# clauses_test.sh HEADER CLAUSES.MD: each clause of the header is in the table once, in
# the table there is no other, and each test that the table names exists. Reads the
# checkout, so that no test can be forgotten.
set -euo pipefail

header=$(readlink -f "$1")
table=$(readlink -f "$2")
root=$(dirname "$(dirname "$(dirname "$table")")")

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A clause begins a line of a comment.
defined=$(grep -oP '^ *(/\*|\*) \[\K[a-z]+-[0-9]+(?=\] )' "$header" | sort)
[[ -n $defined ]] || fail "$header has no clause"
[[ -z $(uniq -d <<< "$defined") ]] || fail "defined twice: $(uniq -d <<< "$defined")"
listed=$(grep -oP '^\| \K[a-z]+-[0-9]+(?= \|)' "$table" | sort)
diff <(echo "$defined") <(echo "$listed") || fail "the header and the table differ"

# Clauses of one kind are numbered from 1 on.
while read -r clause; do
  number=${clause##*-}
  ((number == 1)) || grep -qx "${clause%-*}-$((number - 1))" <<< "$defined" ||
    fail "there is no clause before $clause"
done <<< "$defined"

while IFS='|' read -r _ clause _ test _; do
  read -r file name <<< "${test//\`/}"
  [[ $file == - ]] && continue
  [[ -f $root/$file ]] || fail "$clause: there is no $file"
  [[ -z $name ]] || grep -qw -- "$name" "$root/$file" || fail "$clause: $file has no $name"
done < <(grep -P '^\| [a-z]+-[0-9]+ \|' "$table")

# What the header refers to is there.
while read -r clause; do
  grep -qx -- "$clause" <<< "$defined" || fail "the header refers to $clause"
done < <(grep -oP '\[\K[a-z]+-[0-9]+(?=\])' "$header" | sort -u)

# Worker and backends name only clauses that are there.
named=$(grep -rhoP '"\K[a-z]+-[0-9](?=")' "$root/backends/worker/media" --include='*.cc' | sort -u)
[[ -n $named ]] || fail "no message names a clause"
while read -r clause; do
  grep -qx -- "$clause" <<< "$defined" || fail "a message names $clause"
done <<< "$named"
