// SPDX-License-Identifier: Apache-2.0
//
// A backend for audio only, as for a sound chip. It decodes 16-bit PCM to
// floats and nothing else. If the file `broken` beside the shared object is not
// empty, the backend refuses every packet, as a bad release would.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.hpp"

namespace {

using bulkhead::sdk::Emit;
using bulkhead::sdk::Outcome;

bool broken = false;

// The object that a frame's `private_data` points to.
struct Block {
  std::vector<int16_t> samples;
  const uint8_t* plane = nullptr;
};

class Session {
 public:
  explicit Session(const bulkhead_codec_parameters& codec)
      : channels_(static_cast<uint32_t>(codec.channels)),
        rate_(static_cast<uint32_t>(codec.sample_rate)) {}

  Outcome Send(const bulkhead_packet* packet) {
    if (pending_) return BULKHEAD_AGAIN;
    if (packet == nullptr) {
      ended_ = true;
      return BULKHEAD_OK;
    }
    if (broken) {
      return {BULKHEAD_FAILED, "this release of the chip's driver is broken"};
    }
    samples_.resize(packet->bytes / sizeof(int16_t));
    std::memcpy(samples_.data(), packet->data,
                samples_.size() * sizeof(int16_t));
    pts_ = packet->pts;
    duration_ = packet->duration;
    pending_ = true;
    return BULKHEAD_OK;
  }

  Outcome Receive(bulkhead_frame* frame) {
    if (!pending_) return ended_ ? BULKHEAD_END_OF_STREAM : BULKHEAD_AGAIN;
    auto block = std::make_unique<Block>();
    block->samples = std::move(samples_);
    block->plane = reinterpret_cast<const uint8_t*>(block->samples.data());
    pending_ = false;
    frame->pts = pts_;
    frame->duration = duration_;
    frame->sample_format = "s16";
    frame->sample_rate = static_cast<int32_t>(rate_);
    frame->channels = static_cast<int32_t>(channels_);
    frame->sample_count =
        static_cast<int32_t>(block->samples.size() / channels_);
    frame->planes = &block->plane;
    frame->private_data = block.release();
    return BULKHEAD_OK;
  }

  static void Release(const bulkhead_frame& frame) {
    delete static_cast<Block*>(frame.private_data);
  }

  void Flush() { pending_ = ended_ = false; }

 private:
  const uint32_t channels_;
  const uint32_t rate_;
  std::vector<int16_t> samples_;  // of the packet that was sent
  int64_t pts_ = 0;
  int64_t duration_ = 0;
  bool pending_ = false;
  bool ended_ = false;
};

struct AudioOnly {
  using Decoder = Session;
  static constexpr const char* kName = "audio_only";
  static constexpr const char* kVersion = "1.0";
  static constexpr uint32_t kStreamKinds = BULKHEAD_DECODES_AUDIO;

  static Outcome EnumerateDevices(const bulkhead_runtime&, const Emit& emit) {
    emit({.name = "audio_only", .description = "a chip"});
    return BULKHEAD_OK;
  }

  static Outcome Open(const bulkhead_open_parameters& parameters,
                      const bulkhead_runtime&,
                      std::unique_ptr<Session>* session) {
    const bulkhead_codec_parameters& codec = *parameters.codec;
    if (codec.stream_kind != BULKHEAD_STREAM_AUDIO ||
        std::strcmp(codec.codec, "pcm_s16le") != 0) {
      return {BULKHEAD_UNSUPPORTED, "the chip takes PCM of 16 bits"};
    }
    *session = std::make_unique<Session>(codec);
    return BULKHEAD_OK;
  }
};

}  // namespace

extern "C" const bulkhead_backend* audio_only_backend(void) {
  Dl_info self;
  if (dladdr(&broken, &self) != 0) {
    const std::string object = self.dli_fname;
    std::ifstream file(object.substr(0, object.rfind('/') + 1) + "broken");
    broken = file.get() != std::ifstream::traits_type::eof();
  }
  return bulkhead::sdk::TableOf<AudioOnly>();
}
