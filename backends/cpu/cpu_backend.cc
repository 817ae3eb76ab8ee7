// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"

#include <memory>
#include <string>
#include <utility>

#include "backends/libav_codec/capabilities.h"
#include "backends/libav_codec/libav_decoder.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/bulkhead_backend.hpp"

namespace bulkhead::cpu {
namespace {

using libav_codec::FramePtr;
using libav_codec::LibavDecoder;

class CpuDecoder {
 public:
  explicit CpuDecoder(std::unique_ptr<LibavDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  bulkhead_result Send(const bulkhead_packet* packet) {
    return decoder_->Send(packet);
  }

  bulkhead_result Receive(bulkhead_frame* frame) {
    FramePtr picture(av_frame_alloc());
    if (!picture) return BULKHEAD_OUT_OF_MEMORY;
    const bulkhead_result result = decoder_->Receive(picture.get());
    if (result != BULKHEAD_OK) return result;
    decoder_->Describe(*picture, frame);
    frame->buffer = decoder_->HandleOf(*picture);
    frame->private_data = picture.release();
    return BULKHEAD_OK;
  }

  void Release(const bulkhead_frame& frame) {
    FramePtr(static_cast<AVFrame*>(frame.private_data)).reset();
  }

  void Flush() { decoder_->Flush(); }
  const std::string& last_error() const { return decoder_->last_error(); }

 private:
  const std::unique_ptr<LibavDecoder> decoder_;
};

struct Cpu {
  using Decoder = CpuDecoder;
  static constexpr const char* kName = "cpu";
  static constexpr const char* kVersion = "0.1.0";
  static constexpr uint32_t kStreamKinds =
      BULKHEAD_DECODES_VIDEO | BULKHEAD_DECODES_AUDIO;

  static sdk::Outcome EnumerateDevices(const bulkhead_runtime&,
                                       const sdk::Emit& emit) {
    const unsigned version = avcodec_version();
    const std::string description =
        "libavcodec " + std::to_string(AV_VERSION_MAJOR(version)) + "." +
        std::to_string(AV_VERSION_MINOR(version)) + "." +
        std::to_string(AV_VERSION_MICRO(version));
    bulkhead_device device = {.name = "cpu",
                              .description = description.c_str()};
    const libav_codec::Capabilities capabilities;
    capabilities.Describe(&device);
    emit(device);
    return BULKHEAD_OK;
  }

  static sdk::Outcome Open(const bulkhead_open_parameters& parameters,
                           const bulkhead_runtime& runtime,
                           std::unique_ptr<Decoder>* decoder) {
    if (parameters.device != 0) {
      return {BULKHEAD_UNSUPPORTED, "there is one device, cpu:0; device " +
                                        std::to_string(parameters.device) +
                                        " was asked for"};
    }
    auto opened = LibavDecoder::Open(parameters, &runtime);
    if (!opened) {
      return {opened.error().result, std::move(opened.error().sentence)};
    }
    *decoder = std::make_unique<CpuDecoder>(*std::move(opened));
    return BULKHEAD_OK;
  }
};

}  // namespace
}  // namespace bulkhead::cpu

const bulkhead_backend* bulkhead_cpu_backend(void) {
  return bulkhead::sdk::TableOf<bulkhead::cpu::Cpu>();
}
