// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// A clip of H.264 with B-frames, 80x48 pixels, for the health checks of the
// backend `wrong`.
struct ClipOfABackend {
  std::string path;
  std::vector<std::string> md5s;  // of its pictures, by the ffmpeg program
};

// Makes the clip. The path is empty after the test was skipped for want of an
// encoder.
ClipOfABackend MakeOwnClip();

// Copies a clip into the dist-info of the backend that was installed in
// `installation`, and names it in RECORD and in bulkhead.toml.
void BringClip(const std::string& installation, const ClipOfABackend& clip);

// Adds lines to the bulkhead.toml of the backend, or to its RECORD.
void AddToManifest(const std::string& installation, const std::string& lines);
void AddToRecord(const std::string& installation, const std::string& lines);

// Returns the dist-info of the backend, as a path and as RECORD names it.
std::string DistInfo(const std::string& installation);
inline constexpr const char* kDistInfoName = "bulkhead_wrong-0.1.0.dist-info";

}  // namespace bulkhead::tests
