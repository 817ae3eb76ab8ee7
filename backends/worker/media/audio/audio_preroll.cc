// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_preroll.h"

namespace bulkhead::worker::audio {
namespace {

struct Row {
  std::string_view codec;
  int packets;
};

constexpr Row kRows[] = {
    {"alac", 0},
    {"flac", 0},
    // 11 for the bit reservoir: a packet uses up to 511 bytes of earlier
    // packets, which have 51 bytes each at the lowest rate. One more for the
    // overlapping transform, and one for the filter bank.
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

}  // namespace bulkhead::worker::audio
