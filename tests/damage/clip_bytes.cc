// SPDX-License-Identifier: Apache-2.0
#include "tests/damage/clip_bytes.h"

#include <cstdint>
#include <cstdio>
#include <sstream>

#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kPacketBytes = 188;

uint8_t ByteAt(const std::string& bytes, size_t at) {
  return static_cast<uint8_t>(bytes.at(at));
}

int PidAt(const std::string& bytes, size_t at) {
  return (ByteAt(bytes, at + 1) & 0x1f) << 8 | ByteAt(bytes, at + 2);
}

std::vector<size_t> PayloadPositions(const std::string& bytes, size_t begin,
                                     size_t end) {
  std::vector<size_t> positions;
  for (size_t at = begin; at + kPacketBytes <= end; at += kPacketBytes) {
    if (PidAt(bytes, at) != PidAt(bytes, begin)) continue;
    const bool adapted = (ByteAt(bytes, at + 3) & 0x20) != 0;
    const size_t header = adapted ? size_t{5} + ByteAt(bytes, at + 4) : 4;
    for (size_t i = header; i < kPacketBytes; ++i) positions.push_back(at + i);
  }
  return positions;
}

}  // namespace

std::string WriteClip(const std::string& name, const std::string& bytes) {
  const std::string path = TemporaryDirectory() + "/" + name;
  WriteBytes(path, bytes);
  return path;
}

std::vector<FilePacket> PacketsOf(const std::string& path,
                                  const std::string& kind) {
  std::istringstream lines(
      RunProgram({"ffprobe", "-v", "error", "-select_streams", kind + ":0",
                  "-show_entries", "packet=size,pos,flags", "-of", "csv=p=0",
                  path})
          .output);
  std::vector<FilePacket> packets;
  for (std::string line; std::getline(lines, line);) {
    FilePacket packet;
    char flag = 0;
    if (std::sscanf(line.c_str(), "%zu,%zu,%c", &packet.bytes, &packet.position,
                    &flag) != 3) {
      continue;
    }
    packet.keyframe = flag == 'K';
    packets.push_back(packet);
  }
  return packets;
}

std::vector<size_t> PositionsOf(const std::string& path,
                                const std::string& bytes,
                                const std::vector<FilePacket>& packets,
                                size_t at) {
  const FilePacket& packet = packets.at(at);
  if (path.ends_with(".ts")) {
    return PayloadPositions(bytes, packet.position,
                            packets.at(at + 1).position);
  }
  // In Matroska, the track, a time and flags are before the content.
  const size_t begin = packet.position + (path.ends_with(".mkv") ? 4 : 0);
  std::vector<size_t> positions;
  for (size_t i = 0; i < packet.bytes; ++i) positions.push_back(begin + i);
  return positions;
}

std::string WithoutTransportPackets(const std::string& bytes,
                                    const FilePacket& first,
                                    const FilePacket& next) {
  std::string kept = bytes.substr(0, first.position);
  for (size_t at = first.position; at < next.position; at += kPacketBytes) {
    if (PidAt(bytes, at) == PidAt(bytes, first.position)) continue;
    kept += bytes.substr(at, kPacketBytes);
  }
  return kept + bytes.substr(next.position);
}

}  // namespace bulkhead::tests
