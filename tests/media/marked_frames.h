// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// References for pictures: what the ffmpeg program shows of a file on this
// machine, with one thread, however damaged the file is. The functions take the
// first video stream that is no cover, or else the first video stream, and
// ignore an angle that is no quarter turn. BULKHEAD_TEST_MARKS must be the path
// of marked_frames_main. They return kNotFound if this machine has no ffmpeg,
// and kBadInput if nothing can be decoded.

// Says of a frame what libavcodec knows and the ffmpeg program does not print.
struct Mark {
  int64_t pts = 0;      // the best-effort timestamp
  bool marked = false;  // true if libavcodec marked the frame as corrupt
};

// One frame as ffmpeg shows it.
struct MarkedFrame : Mark {
  std::string hash;  // of RGB24, upright
};

Result<std::vector<MarkedFrame>> DecodeWithMarks(const std::string& path);

// The hashes of a file's pictures in both forms, of one decode where ffmpeg
// does not turn the pictures.
struct PictureHashes {
  std::vector<std::string> rgb;     // of RGB24, upright
  std::vector<std::string> planes;  // as the decoder makes them
  // One for each picture if libavcodec marked any of them, else empty.
  std::vector<Mark> marks;
  std::string complaints;  // what ffmpeg printed, as in ffmpeg_play.h
};

Result<PictureHashes> HashBothForms(const std::string& path);

}  // namespace bulkhead::tests
