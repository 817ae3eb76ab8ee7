#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# exports_test.sh LIBBULKHEAD.SO SYMBOLS: checks that the shared library exports the
# functions that core/libbulkhead.symbols lists and nothing else, under its soname.
set -euo pipefail

library=$1
symbols=$2

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

listed=$(grep -o '^_[^ ]*' "$symbols" | sort)
(($(wc -l <<< "$listed") > 50)) || fail "the list has hardly any symbol"
exported=$(nm --dynamic --defined-only "$library" | awk '$2 != "A" { print $3 }' |
  sed 's/@.*//' | sort)
diff <(echo "$listed") <(echo "$exported") ||
  fail "the library (>) exports other symbols than $symbols lists (<)"
! nm --dynamic --defined-only "$library" | grep -v '@@LIBBULKHEAD_0$' | grep -v ' A ' ||
  fail "a symbol has no version"
readelf --dynamic "$library" |
  grep 'Library soname: \[libbulkhead\.so\.0\]' > /dev/null ||
  fail "the soname is not libbulkhead.so.0"
