#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# outsider.sh PREFIX SOURCES [conformance]: uses an installation as a stranger does, with
# nothing of the repository but the program in SOURCES: compiles and links it with
# pkg-config and with CMake, against the shared and the static library; decodes on
# both devices, and compares with ffmpeg, from Python too; then does what a vendor
# does with the example, which with `conformance` has to pass that: two thirds of the
# time. Works in a new directory below $TMPDIR.
set -euo pipefail

prefix=$(readlink -f "$1")
sources=$(readlink -f "$2")

work=$(mktemp -d "${TMPDIR:-/tmp}/outsider.XXXXXX")
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

expect() { # WANTED COMMAND...
  local wanted=$1 got
  shift
  got=$("$@") || fail "$* failed"
  [[ $got == "$wanted" ]] || fail "$* printed \"$got\", not \"$wanted\""
}

libdir=$prefix/lib
if [[ ! -e $libdir/libbulkhead.so ]]; then libdir=$prefix/lib/$(c++ -print-multiarch); fi
[[ -e $libdir/libbulkhead.so ]] || fail "there is no libbulkhead.so below $prefix/lib"
export PKG_CONFIG_PATH=$libdir/pkgconfig

ffmpeg -v error -f lavfi -i testsrc=duration=2:size=160x120:rate=10 -c:v libx264 clip.mp4
read -ra flags < <(pkg-config --cflags --libs bulkhead)
c++ -std=c++20 -Wall -Wextra -Werror "$sources/decode.cc" -o shared "${flags[@]}"
read -ra flags < <(pkg-config --static --cflags --libs bulkhead)
c++ -std=c++20 "$sources/decode.cc" -o static "${flags[@]/-lbulkhead/-l:libbulkhead.a}"
cmake -S "$sources" -B cmake "-DCMAKE_PREFIX_PATH=$prefix" > cmake.log || fail "$(cat cmake.log)"
cmake --build cmake > cmake.log || fail "$(cat cmake.log)"

version=$(pkg-config --modversion bulkhead)
for device in cpu openreg:1; do
  for program in ./shared cmake/decode; do
    expect "20 frames with $version" env "LD_LIBRARY_PATH=$libdir" "$program" clip.mp4 "$device"
  done
  # A program that has the library inside is found from its own place.
  for program in static cmake/decode_static; do
    install "$program" "$prefix/bin/outsider"
    expect "20 frames with $version" "$prefix/bin/outsider" clip.mp4 "$device"
    rm "$prefix/bin/outsider"
  done
done

expect "bulkhead $version" "$prefix/bin/bulkhead" --version
"$prefix/bin/bulkhead" decode clip.mp4 > got
ffmpeg -v error -i clip.mp4 -pix_fmt rgb24 -f framemd5 - > wanted
# The columns are aligned differently.
hashes() { grep -v '^#' "$1" | awk '{ print $NF }'; }
diff <(hashes got) <(hashes wanted) || fail "the frames differ from those of ffmpeg"
(($(hashes got | wc -l) == 20)) || fail "not 20 frames were compared"

for program in shared cmake/decode; do
  linked=$(LD_LIBRARY_PATH=$libdir ldd "$program")
  grep -q 'libbulkhead\.so\.0 => /' <<< "$linked" || fail "not linked with the soname: $linked"
  ! grep -E 'libav|libsw|not found' <<< "$linked" || fail "$program links a media library"
done

# Python's directory has a version in its name, except in Debian's own prefix.
(
  cd "$prefix"/lib/python3*/dist-packages/bulkhead/..
  PYTHONPATH=$PWD "$sources/python_user.sh" /usr/bin/python3
) || fail "the Python package cannot be used"

# The page for vendors shows a backend in C++.
example=$(pkg-config --variable=example bulkhead)
awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' "$example/../README.md" > acme.cc
[[ -s acme.cc ]] || fail "no example in C++"
c++ -std=c++17 -Wall -Wextra -Werror -pedantic-errors -fPIC -shared acme.cc -o acme.so \
  "-I$prefix/include" || fail "the example in C++ does not compile"

# A vendor builds the example, packs it, installs it and decodes its clip of AV1.
bulkhead=$prefix/bin/bulkhead
cp -r "$example" dav1d
make -s -C dav1d wheel > make.log 2>&1 || fail "$(cat make.log)"
"$bulkhead" install dav1d/*.whl --into plugins > install.log || fail "$(cat install.log)"
clip=$(echo plugins/*.dist-info/clip.ivf)
"$bulkhead" decode "$clip" > wanted
"$bulkhead" --plugin-path "$PWD/plugins" decode "$clip" --device dav1d > got
diff <(hashes got) <(hashes wanted) || fail "the example's frames differ"
[[ -n $(hashes got) ]] || fail "the example decoded no frame"
if [[ ${3:-} == conformance ]]; then
  "$bulkhead" --plugin-path "$PWD/plugins" conformance dav1d > report || fail "$(cat report)"
  grep -q '^passed  decodes av1 ' report || fail "AV1 was not decoded: $(cat report)"
fi

"$prefix/bin/bulkhead" demo > demo.log 2>&1 || fail "the demo: $(cat demo.log)"
grep -q 'all frames of all runs are equal' demo.log || fail "the demo: $(cat demo.log)"
