// SPDX-License-Identifier: Apache-2.0
//
// A backend for audio only, like that of a sound chip. It decodes 16-bit PCM to
// floats and nothing else. If the file `broken` beside the shared object is not
// empty, the backend refuses every packet, as a bad release would.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace {

struct Session {
  uint32_t channels = 0;
  uint32_t rate = 0;
  std::vector<int16_t> samples;  // of the packet that was sent
  int64_t pts = 0;
  int64_t duration = 0;
  bool pending = false;
  bool ended = false;
};

bool broken = false;
const char* last_error = "";

Session* Self(bulkhead_decoder* decoder) {
  return reinterpret_cast<Session*>(decoder);
}

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* context) {
  const bulkhead_device device = {
      .size = sizeof(device), .name = "audio_only", .description = "a chip"};
  emit(context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime*, bulkhead_decoder** decoder) {
  const bulkhead_codec_parameters& codec = *parameters->codec;
  if (codec.stream_kind != BULKHEAD_STREAM_AUDIO ||
      std::strcmp(codec.codec, "pcm_s16le") != 0) {
    last_error = "the chip takes PCM of 16 bits";
    return BULKHEAD_UNSUPPORTED;
  }
  auto* session = new (std::nothrow) Session;
  if (session == nullptr) return BULKHEAD_OUT_OF_MEMORY;
  session->channels = static_cast<uint32_t>(codec.channels);
  session->rate = static_cast<uint32_t>(codec.sample_rate);
  *decoder = reinterpret_cast<bulkhead_decoder*>(session);
  return BULKHEAD_OK;
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  Session& session = *Self(decoder);
  if (session.pending) return BULKHEAD_AGAIN;
  if (packet == nullptr) {
    session.ended = true;
    return BULKHEAD_OK;
  }
  if (broken) {
    last_error = "this release of the chip's driver is broken";
    return BULKHEAD_FAILED;
  }
  session.samples.resize(packet->bytes / sizeof(int16_t));
  std::memcpy(session.samples.data(), packet->data,
              session.samples.size() * sizeof(int16_t));
  session.pts = packet->pts;
  session.duration = packet->duration;
  session.pending = true;
  return BULKHEAD_OK;
}

// The object that a frame's `private_data` points to.
struct Block {
  std::vector<int16_t> samples;
  const uint8_t* plane = nullptr;
};

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  Session& session = *Self(decoder);
  if (!session.pending) {
    return session.ended ? BULKHEAD_END_OF_STREAM : BULKHEAD_AGAIN;
  }
  auto* block = new (std::nothrow) Block;
  if (block == nullptr) return BULKHEAD_OUT_OF_MEMORY;
  block->samples = std::move(session.samples);
  block->plane = reinterpret_cast<const uint8_t*>(block->samples.data());
  session.pending = false;
  frame->size = sizeof(*frame);
  frame->pts = session.pts;
  frame->duration = session.duration;
  frame->sample_format = "s16";
  frame->sample_rate = static_cast<int32_t>(session.rate);
  frame->channels = static_cast<int32_t>(session.channels);
  frame->sample_count =
      static_cast<int32_t>(block->samples.size() / session.channels);
  frame->planes = &block->plane;
  frame->private_data = block;
  return BULKHEAD_OK;
}

void ReleaseFrame(bulkhead_decoder*, bulkhead_frame* frame) {
  delete static_cast<Block*>(frame->private_data);
}

void Flush(bulkhead_decoder* decoder) {
  Self(decoder)->pending = false;
  Self(decoder)->ended = false;
}

void Close(bulkhead_decoder* decoder) { delete Self(decoder); }

const char* LastError(bulkhead_decoder*) { return last_error; }

}  // namespace

extern "C" const bulkhead_backend* audio_only_backend(void) {
  static const bulkhead_backend table = {
      .size = sizeof(bulkhead_backend),
      .abi_version = BULKHEAD_ABI_VERSION,
      .name = "audio_only",
      .version = "1.0",
      .enumerate_devices = EnumerateDevices,
      .open = Open,
      .send_packet = SendPacket,
      .receive_frame = ReceiveFrame,
      .release_frame = ReleaseFrame,
      .flush = Flush,
      .close = Close,
      .last_error = LastError,
      .stream_kinds = BULKHEAD_DECODES_AUDIO};
  Dl_info self;
  if (dladdr(&broken, &self) != 0) {
    const std::string object = self.dli_fname;
    std::ifstream file(object.substr(0, object.rfind('/') + 1) + "broken");
    broken = file.get() != std::ifstream::traits_type::eof();
  }
  return &table;
}
