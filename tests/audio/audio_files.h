// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// Audio files for tests, and the samples that the ffmpeg command decodes from
// them on this machine.

// Makes the file `name` with the ffmpeg command, passing `encoding` as the
// output options. The source has two channels at 44.1 kHz, and no two parts of
// it are alike. Returns the path, or an empty string if ffmpeg cannot make the
// file.
std::string MakeAudio(const std::string& name,
                      const std::vector<std::string>& encoding,
                      double seconds = 3);

// Returns the samples of the first audio stream, interleaved, as ffmpeg decodes
// them with one thread.
std::vector<float> SamplesByFfmpeg(
    const std::string& path, const std::vector<std::string>& options = {});

// Returns the numbers that a program has printed as f32le.
std::vector<float> FloatsIn(const std::string& output);

// Returns the paths of the files that the manifest of BULKHEAD_SHARED names, or
// none if the variable is not set.
std::vector<std::string> SharedMedia();

}  // namespace bulkhead::tests
