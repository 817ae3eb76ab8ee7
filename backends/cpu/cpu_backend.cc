// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"

#include <memory>
#include <string>

#include "backends/libav_codec/capabilities.h"
#include "backends/libav_codec/libav_decoder.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/sized.h"

namespace bulkhead::cpu {
namespace {

using libav_codec::FramePtr;
using libav_codec::LibavDecoder;

// The sentence of a failed open, which belongs to no decoder. One for each
// thread, since the ABI allows several calls of open at the same time.
thread_local std::string open_error;

LibavDecoder* Self(bulkhead_decoder* decoder) {
  return reinterpret_cast<LibavDecoder*>(decoder);
}

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const unsigned version = avcodec_version();
  const std::string description =
      "libavcodec " + std::to_string(AV_VERSION_MAJOR(version)) + "." +
      std::to_string(AV_VERSION_MINOR(version)) + "." +
      std::to_string(AV_VERSION_MICRO(version));
  bulkhead_device device = {.size = sizeof(device),
                            .name = "cpu",
                            .description = description.c_str()};
  const libav_codec::Capabilities capabilities;
  capabilities.Describe(&device);
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  const auto taken = sdk::TakeSized(*parameters);
  if (taken.device != 0) {
    open_error = "there is one device, cpu:0; device " +
                 std::to_string(taken.device) + " was asked for";
    return BULKHEAD_UNSUPPORTED;
  }
  auto opened = LibavDecoder::Open(taken, runtime);
  if (!opened) {
    open_error = std::move(opened.error().sentence);
    return opened.error().result;
  }
  *decoder = reinterpret_cast<bulkhead_decoder*>(opened->release());
  return BULKHEAD_OK;
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  return Self(decoder)->Send(packet);
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  FramePtr picture(av_frame_alloc());
  if (!picture) return BULKHEAD_OUT_OF_MEMORY;
  const bulkhead_result result = Self(decoder)->Receive(picture.get());
  if (result != BULKHEAD_OK) return result;
  Self(decoder)->Describe(*picture, frame);
  frame->buffer = Self(decoder)->HandleOf(*picture);
  frame->private_data = picture.release();
  return BULKHEAD_OK;
}

void ReleaseFrame(bulkhead_decoder*, bulkhead_frame* frame) {
  FramePtr(static_cast<AVFrame*>(frame->private_data)).reset();
  frame->private_data = nullptr;
}

void Flush(bulkhead_decoder* decoder) { Self(decoder)->Flush(); }

void Close(bulkhead_decoder* decoder) { delete Self(decoder); }

const char* LastError(bulkhead_decoder* decoder) {
  return decoder == nullptr ? open_error.c_str()
                            : Self(decoder)->last_error().c_str();
}

constexpr bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .name = "cpu",
    .version = "0.1.0",
    .enumerate_devices = EnumerateDevices,
    .open = Open,
    .send_packet = SendPacket,
    .receive_frame = ReceiveFrame,
    .release_frame = ReleaseFrame,
    .flush = Flush,
    .close = Close,
    .last_error = LastError,
    .stream_kinds = BULKHEAD_DECODES_VIDEO | BULKHEAD_DECODES_AUDIO,
};

}  // namespace
}  // namespace bulkhead::cpu

const bulkhead_backend* bulkhead_cpu_backend(void) {
  return &bulkhead::cpu::kBackend;
}
