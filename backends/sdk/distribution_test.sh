#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks a distribution as an installer would: RECORD must list every file, with
# the right digest and size. The arguments are the files of the distribution.

set -euo pipefail

for file in "$@"; do
  case "$file" in */RECORD) record="$file" ;; esac
done
root="${record%/*/RECORD}"
lines=0
while IFS=, read -r path digest size; do
  lines=$((lines + 1))
  [[ -f "$root/$path" ]] || { echo "$path is missing" >&2; exit 1; }
  [[ "$path" != */RECORD ]] || continue
  base64="$(tr -- '-_' '+/' <<<"${digest#sha256=}")="
  recorded="$(base64 -d <<<"$base64" | od -An -v -tx1 | tr -d ' \n')"
  actual="$(sha256sum "$root/$path" | cut -c1-64)"
  [[ "$recorded" == "$actual" ]] || { echo "$path: digest" >&2; exit 1; }
  [[ "$size" == "$(stat -Lc %s "$root/$path")" ]] ||
    { echo "$path: size" >&2; exit 1; }
done <"$record"
[[ "$lines" == "$#" ]] || { echo "RECORD lists $lines of $# files" >&2; exit 1; }
