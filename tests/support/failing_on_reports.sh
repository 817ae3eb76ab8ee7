#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a test of a build with sanitizers: failing_on_reports.sh PROGRAM ARGUMENT...
# Fails if the test fails, or if a sanitizer reports anything in a process that
# writes to the test's stderr. bulkheadd does, and the end of bulkheadd fails no
# test by itself: the library starts another one.
set -uo pipefail

reports='(ERROR|FATAL|SUMMARY): [A-Za-z]+Sanitizer|Sanitizer: CHECK failed|: runtime error: '

log=$(mktemp "${TEST_TMPDIR:-/tmp}/stderr-XXXXXX")
exec {errors}> >(exec tee "$log" >&2)
tee=$!
"$@" 2>&"$errors" {errors}>&-
status=$?
# The end of tee is the end of every process that could have reported.
exec {errors}>&-
wait "$tee"
if grep -aqE "$reports" "$log"; then
  echo "failing_on_reports.sh: a sanitizer reported what is above" >&2
  ((status != 0)) || status=1
fi
rm -f "$log"
exit "$status"
