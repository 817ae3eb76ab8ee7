// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/ogg_pages.h"

struct AVVorbisParseContext;

namespace bulkhead::worker {

// Tells how many samples a packet of Ogg has, by its first bytes and the
// headers of the stream: Vorbis, Opus (RFC 6716, section 3.1), FLAC and Speex.
// The bytes are hostile.
//
// Copies share a parser, which keeps no state from one call to the next.
class OggDurations {
 public:
  explicit OggDurations(const Demuxer& demuxer);

  // Returns whether the codec of the stream is one of those.
  bool can_tell() const { return codec_ != Codec::kOther; }
  // Another stream begins, whose headers come next.
  void Restart() { has_before_ = false; }
  // Takes the next packet of the stream, of which the bytes on its first page
  // are known. Returns its duration in the units of granules; 0 for headers.
  int64_t Of(const OggPart& packet);
  // Returns whether the first packet of every recording begins at granule 0.
  bool begins_at_zero() const { return codec_ != Codec::kSpeex; }
  // Returns the number of samples that a decoder leaves out at the start:
  // sample 0 has that granule.
  int64_t preskip() const { return preskip_; }

 private:
  enum class Codec { kOther, kVorbis, kOpus, kFlac, kSpeex };

  int64_t OfVorbis(const OggPart& packet);

  Codec codec_ = Codec::kOther;
  std::shared_ptr<AVVorbisParseContext> vorbis_;
  uint8_t before_ = 0;  // the first byte of the Vorbis packet before
  bool has_before_ = false;
  int64_t preskip_ = 0;
  int64_t speex_samples_ = 0;
};

}  // namespace bulkhead::worker
