#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ldd_test.sh LIBBULKHEAD.SO: checks that the library brings neither a media library
# nor vendor code into an application.
set -euo pipefail

library=$1
linked=$(ldd "$library")
echo "$linked"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

grep -q 'libc\.so' <<< "$linked" || fail "ldd names no libc: it saw nothing"
! grep -q 'not found' <<< "$linked" || fail "a library is missing"
! grep -E 'libav|libsw|libpostproc|libx26|libvpx|libdav1d' <<< "$linked" ||
  fail "the library links a media library"
! grep -E 'bulkhead_|openreg|libcuda|libva|libvdpau|libdrm' <<< "$linked" ||
  fail "the library links a backend or its driver"
# A media library must not be linked in statically either.
! nm -D --defined-only "$library" | grep -E ' (av|avcodec|avformat|sws)_' ||
  fail "the library contains a media library"
