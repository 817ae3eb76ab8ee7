// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bulkhead::tests {

// The bytes of clips, for tests that damage them.

// Writes a file of this name in the test's own directory and returns its path.
std::string WriteClip(const std::string& name, const std::string& bytes);

struct FilePacket {
  size_t position = 0;  // in the file
  size_t bytes = 0;
  bool keyframe = false;
};
// Returns the packets of the first stream of a kind ("v", "a"), in the order of
// the file, as ffprobe prints them.
std::vector<FilePacket> PacketsOf(const std::string& path,
                                  const std::string& kind = "v");

// Returns the positions in the file of the bytes that packet `at` consists of.
// In a transport stream these are the payloads up to the next packet, with the
// header of the PES packet; in Matroska the content of the block.
std::vector<size_t> PositionsOf(const std::string& path,
                                const std::string& bytes,
                                const std::vector<FilePacket>& packets,
                                size_t at);

// Returns the bytes of a transport stream without the packets of a video stream
// from `first` up to `next`.
std::string WithoutTransportPackets(const std::string& bytes,
                                    const FilePacket& first,
                                    const FilePacket& next);

}  // namespace bulkhead::tests
