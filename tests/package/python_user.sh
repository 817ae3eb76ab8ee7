#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# python_user.sh PYTHON: uses the Python package that PYTHON imports, as a stranger
# does: asks the command for its version, and decodes a clip on both devices, whose
# frames are ffmpeg's. Works in a new directory below $TMPDIR.
set -euo pipefail

python=$1
unset BULKHEAD_LIBEXEC_DIR BULKHEAD_PATH BULKHEAD_ADD_PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/python.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

version=$("$python" -c 'import bulkhead; print(bulkhead.__version__)')
told=$("$python" -m bulkhead --version)
if [[ $told != "bulkhead $version" ]]; then
  echo "FAILED: the command of version $version says it is $told" >&2
  exit 1
fi

ffmpeg -v error -f lavfi -i testsrc=duration=2:size=160x120:rate=10 -c:v libx264 clip.mp4
ffmpeg -v error -i clip.mp4 -f rawvideo -pix_fmt rgb24 - | md5sum > wanted
for device in cpu openreg:1; do
  "$python" - "$device" << 'EOF' | md5sum > got
import sys
from bulkhead.decoders import VideoDecoder

for frame in VideoDecoder("clip.mp4", device=sys.argv[1], dimension_order="NHWC").frames():
    sys.stdout.buffer.write(frame.data)
EOF
  if ! diff wanted got >&2; then
    echo "FAILED: the frames of $device differ from those of ffmpeg" >&2
    exit 1
  fi
done
