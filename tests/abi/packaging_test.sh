#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# packaging_test.sh MANIFEST.CC PERMISSIONS_TOML.CC PACKAGING.MD: the page for vendors has
# every key that Bulkhead reads from bulkhead.toml, and no other.
set -euo pipefail

known=$({
  sed -n '/bool IsKnownKey/,/^}/p' "$1" | grep -oP '"\K[a-z_]+(?=")'
  sed -n '/kKeys\[\]/,/^};/p' "$2" | grep -oP '\{"\K[a-z_]+(?=")'
} | sort -u)
# Files of a distribution have rows of the same form.
told=$(grep -oP '^\| \x60\[?\K[a-z_]+(?=[]\x60 ])' "$3" | grep -vx bulkhead | sort -u)
diff <(echo "$known") <(echo "$told") || {
  echo "FAILED: the keys that are read (<) and those on the page (>) differ" >&2
  exit 1
}
