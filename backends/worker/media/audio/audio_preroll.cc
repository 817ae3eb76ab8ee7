// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_preroll.h"

namespace bulkhead::worker {
namespace {

struct Row {
  std::string_view codec;
  int packets;
};

constexpr Row kRows[] = {
    {"alac", 0},
    {"flac", 0},
    // The bit reservoir: a packet uses up to 511 bytes of earlier packets,
    // which have 51 bytes each at the lowest rate. The transform overlaps with
    // one more packet, and the filter bank reaches back over another one.
    {"mp3", 13},
    // The transform overlaps with the packet before.
    {"vorbis", 2},
    {"wavpack", 0},
};

}  // namespace

std::optional<int> PrerollPackets(std::string_view codec) {
  if (codec.starts_with("pcm_")) return 0;
  for (const Row& row : kRows) {
    if (row.codec == codec) return row.packets;
  }
  return std::nullopt;
}

}  // namespace bulkhead::worker
