#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# prefix_test.sh PACKAGE PREFIX.TAR OUTSIDER.SH: installs Bulkhead below a directory as
# a user does, and has outsider.sh use it, after it was moved and after it was replaced.
# tutorial_test has the example pass the conformance test with such an installation.
set -euo pipefail

package=$(readlink -f "$1")
export BULKHEAD_PREFIX_TAR
BULKHEAD_PREFIX_TAR=$(readlink -f "$2")
outsider=$(readlink -f "$3")
sources=$(dirname "$3")

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/prefix.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

use() {
  "$outsider" "$prefix" "$sources" || fail "the installation in $prefix cannot be used"
}

"$package" prefix --prefix /usr --destdir "$work/image"
mv "$work/image" "$work/moved"
prefix=$work/moved/usr
use

# What is installed is what Bulkhead is made of, and nothing can be written by others.
for file in include/bulkhead/host.h include/bulkhead_backend.h \
  include/bulkhead_backend.hpp lib/libbulkhead.so \
  lib/bulkhead/libexec/bulkheadd share/man/man1/bulkhead-decode.1 \
  share/bash-completion/completions/bulkhead share/fish/vendor_completions.d/bulkhead.fish \
  share/zsh/site-functions/_bulkhead share/doc/bulkhead/LICENSE \
  lib/cmake/bulkhead/bulkheadConfig.cmake share/bulkhead/events.schema.json \
  share/bulkhead/prometheus/bulkhead.rules.yml lib/sysusers.d/bulkhead.conf \
  lib/tmpfiles.d/bulkhead.conf lib/systemd/system/bulkhead-metrics@.service; do
  [[ -e $prefix/$file ]] || fail "$file is not installed"
done
[[ -z $(find "$prefix" ! -type l -perm /0022) ]] || fail "others can write to the installation"

grep -q '^ExecStart=/usr/bin/bulkhead ' "$prefix/lib/systemd/system/bulkhead-metrics@.service" ||
  fail "the unit does not name the program below /usr"
# Only root can give directories to the users that the files name.
if ((EUID == 0)) && type -P systemd-analyze > /dev/null; then
  mkdir "$work/moved/etc"
  systemd-sysusers --root="$work/moved"
  systemd-tmpfiles --root="$work/moved" --create
  [[ -d $work/moved/var/lib/bulkhead-service ]] ||
    fail "systemd-tmpfiles made no directory"
fi

# A second installation replaces files and leaves nothing of its own.
"$package" prefix --prefix "$prefix"
[[ -z $(find "$prefix" -name '.bulkhead-*') ]] || fail "the staging directory is left"
use

# Systemd takes the unit, which names the program of this installation.
unit=$prefix/lib/systemd/system/bulkhead-metrics@.service
grep -q "^ExecStart=$prefix/bin/bulkhead " "$unit" ||
  fail "the unit does not name $prefix/bin/bulkhead"
if type -P systemd-analyze > /dev/null; then
  systemd-analyze verify --man=no "$unit" || fail "systemd refuses the unit"
fi

for wrong in '' 'prefix' 'prefix --prefix relative' 'prefix --out x' 'deb' 'deb --prefix /usr' wheel x; do
  status=0
  # shellcheck disable=SC2086
  "$package" $wrong 2> "$work/message" || status=$?
  ((status == 2)) || fail "tools/package $wrong exited with $status"
  grep -q '^tools/package: ' "$work/message" ||
    fail "tools/package $wrong said $(cat "$work/message")"
done
