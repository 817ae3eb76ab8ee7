// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// Files of audio for tests, and what the ffmpeg command makes of them on this
// machine.

// Makes a file of that name with the ffmpeg command, `encoding` being what it
// is told of the output; the source has two channels at 44.1 kHz, and no two
// places of it are alike. Empty: it cannot.
std::string MakeAudio(const std::string& name,
                      const std::vector<std::string>& encoding,
                      double seconds = 3);

// The samples of the first audio stream, interleaved, by one decoding thread.
std::vector<float> SamplesByFfmpeg(
    const std::string& path, const std::vector<std::string>& options = {});

// Paths of the files named in the manifest of BULKHEAD_SHARED; empty: it is not
// set.
std::vector<std::string> SharedMedia();

}  // namespace bulkhead::tests
