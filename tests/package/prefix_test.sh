#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# prefix_test.sh PACKAGE PREFIX.TAR DECODE.CC: installs Bulkhead below a directory as
# a user does, and uses it with nothing of the repository: compiles, links and runs
# programs, with the shared and with the static library, before and after the
# installation was moved.
set -euo pipefail

package=$(readlink -f "$1")
export BULKHEAD_PREFIX_TAR
BULKHEAD_PREFIX_TAR=$(readlink -f "$2")
source=$(readlink -f "$3")

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/prefix.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# The installation must be found by its place and not by a variable of the test.
unset BULKHEAD_LIBEXEC_DIR BULKHEAD_PATH BULKHEAD_ADD_PATH LD_LIBRARY_PATH
export BULKHEAD_STATE_DIR=$work/state XDG_RUNTIME_DIR=$work/run XDG_DATA_HOME=$work/data
mkdir -m 0700 "$XDG_RUNTIME_DIR"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

"$package" prefix --prefix /usr --destdir "$work/image"
prefix=$work/image/usr
ffmpeg -v error -f lavfi -i testsrc=duration=2:size=160x120:rate=10 -c:v libx264 clip.mp4

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra flags < <(pkg-config --cflags --libs bulkhead)
c++ -std=c++20 -Wall -Wextra -Werror "$source" -o shared "${flags[@]}"
read -ra flags < <(pkg-config --static --cflags --libs bulkhead)
c++ -std=c++20 "$source" -o static "${flags[@]/-lbulkhead/-l:libbulkhead.a}"

expect() { # WANTED COMMAND...
  local wanted=$1 got
  shift
  got=$("$@") || fail "$* failed"
  [[ $got == "$wanted" ]] || fail "$* printed \"$got\", not \"$wanted\""
}

version=$(pkg-config --modversion bulkhead)
decode() {
  for device in cpu openreg:1; do
    expect "20 frames with $version" env "LD_LIBRARY_PATH=$prefix/lib" ./shared clip.mp4 "$device"
    # A program that has the library inside is found from its own place.
    install -D static "$prefix/bin/static"
    expect "20 frames with $version" "$prefix/bin/static" clip.mp4 "$device"
  done
  expect "bulkhead $version" "$prefix/bin/bulkhead" --version
  "$prefix/bin/bulkhead" decode clip.mp4 | tail -n +1 > got
  ffmpeg -v error -i clip.mp4 -pix_fmt rgb24 -f framemd5 - | grep -v '^#' > wanted
  # The columns are aligned differently.
  diff <(grep -v '^#' got | awk '{print $NF}') <(awk '{print $NF}' wanted) ||
    fail "the frames differ from those of ffmpeg"
}

decode
mv "$work/image" "$work/moved"
prefix=$work/moved/usr
decode

linked=$(LD_LIBRARY_PATH=$prefix/lib ldd shared)
grep -q 'libbulkhead\.so\.0 => /' <<< "$linked" || fail "not linked with the soname: $linked"
! grep -E 'libav|libsw|not found' <<< "$linked" || fail "the program links a media library"

# What is installed is what Bulkhead is made of, and nothing can be written by others.
for file in include/bulkhead/host.h include/bulkhead_backend.h lib/libbulkhead.so \
  lib/bulkhead/libexec/bulkheadd share/man/man1/bulkhead-decode.1 \
  share/bash-completion/completions/bulkhead share/fish/vendor_completions.d/bulkhead.fish \
  share/zsh/site-functions/_bulkhead share/doc/bulkhead/LICENSE \
  lib/cmake/bulkhead/bulkheadConfig.cmake; do
  [[ -e $prefix/$file ]] || fail "$file is not installed"
done
[[ -z $(find "$prefix" ! -type l -perm /0022) ]] || fail "others can write to the installation"

# A second installation replaces files and leaves nothing of its own behind.
"$package" prefix --prefix "$prefix"
[[ -z $(find "$prefix" -name '.bulkhead-*') ]] || fail "the staging directory is left"
decode
for wrong in '' 'prefix' 'prefix --prefix relative' 'prefix --out x' 'deb' 'deb --prefix /usr' x; do
  status=0
  # shellcheck disable=SC2086
  "$package" $wrong 2> message || status=$?
  ((status == 2)) || fail "tools/package $wrong exited with $status"
  grep -q '^tools/package: ' message || fail "tools/package $wrong said $(cat message)"
done
