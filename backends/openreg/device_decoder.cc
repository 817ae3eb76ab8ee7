// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_decoder.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "backends/libav_codec/translate.h"
#include "backends/openreg/audio_planes.h"

namespace bulkhead::openreg {
namespace {

constexpr std::chrono::minutes kHung(1);
constexpr int kAlignment = 64;

AVPixelFormat FormatOf(const bulkhead_frame& frame) {
  return frame.pixel_format == nullptr ? AV_PIX_FMT_NONE
                                       : av_get_pix_fmt(frame.pixel_format);
}

bool IsAudio(const bulkhead_frame& frame) { return frame.sample_count > 0; }

int BytesOf(const bulkhead_frame& frame) {
  if (IsAudio(frame)) return static_cast<int>(PackedBytes(frame));
  return av_image_get_buffer_size(FormatOf(frame), frame.width, frame.height,
                                  kAlignment);
}

}  // namespace

libav_codec::Expected<std::unique_ptr<DeviceDecoder>> DeviceDecoder::Open(
    const bulkhead_open_parameters& parameters, const bulkhead_runtime& runtime,
    size_t device_bytes) {
  auto decoder = libav_codec::LibavDecoder::Open(parameters, nullptr);
  if (!decoder) return tl::unexpected(std::move(decoder.error()));
  std::unique_ptr<DeviceDecoder> opened;
  try {
    opened.reset(new DeviceDecoder(runtime, device_bytes));
  } catch (const std::system_error& error) {
    return libav_codec::Fail(
        BULKHEAD_OUT_OF_MEMORY,
        std::string("no thread for the device: ") + error.what());
  }
  opened->decoder_ = std::move(*decoder);
  opened->decoded_.reset(av_frame_alloc());
  if (!opened->decoded_) {
    return libav_codec::Fail(BULKHEAD_OUT_OF_MEMORY, "no memory for a picture");
  }
  return opened;
}

DeviceDecoder::DeviceDecoder(const bulkhead_runtime& runtime,
                             size_t device_bytes)
    : runtime_(runtime), memory_(device_bytes) {}

bulkhead_result DeviceDecoder::Send(const bulkhead_packet* packet) {
  packet_.reset();
  if (packet != nullptr) {
    auto translated = libav_codec::ToPacket(*packet);
    if (!translated) {
      return Fail(translated.error().result, translated.error().sentence);
    }
    packet_ = std::move(*translated);
  }
  return Execute([this] {
    kernel_result_ = decoder_->SendTranslated(packet_.get());
    if (kernel_result_ != BULKHEAD_OK) kernel_error_ = decoder_->last_error();
  });
}

bulkhead_result DeviceDecoder::Receive(bulkhead_frame* frame) {
  bulkhead_result result = Execute([this] { DecodeAndUpload(); });
  if (result == BULKHEAD_OK) result = ChooseTarget();
  if (result != BULKHEAD_OK) return result;
  result = Execute([this] { Download(); });
  if (result != BULKHEAD_OK) {
    // After a hang the buffer is never released, since the kernel may still
    // write to it.
    if (!lost_ && buffer_ != nullptr) {
      runtime_.release_buffer(runtime_.context, buffer_);
    }
    return result;
  }
  *frame = description_;
  if (IsAudio(description_)) {
    frame->planes = reinterpret_cast<uint8_t**>(own_memory_.get());
    frame->private_data = own_memory_.release();
    return BULKHEAD_OK;
  }
  frame->plane_count = 0;
  for (int plane = 0; plane < 4; ++plane) {
    frame->data[plane] = target_.data[plane];
    frame->stride[plane] = target_.stride[plane];
    if (target_.data[plane] != nullptr) ++frame->plane_count;
  }
  frame->buffer = buffer_;
  frame->private_data = own_memory_.release();
  return BULKHEAD_OK;
}

void DeviceDecoder::Release(const bulkhead_frame& frame) {
  if (frame.buffer != nullptr) {
    runtime_.release_buffer(runtime_.context, frame.buffer);
  }
  delete[] static_cast<uint8_t*>(frame.private_data);
}

void DeviceDecoder::Flush() {
  Execute([this] {
    decoder_->Flush();
    kernel_result_ = BULKHEAD_OK;
  });
}

bulkhead_result DeviceDecoder::Execute(DeviceStream::Kernel kernel) {
  if (!lost_) {
    stream_.Launch(std::move(kernel));
    lost_ = !stream_.Synchronize(kHung);
  }
  if (lost_) {
    return Fail(BULKHEAD_DEVICE_LOST,
                "the simulated device hangs; open the stream again");
  }
  if (kernel_result_ == BULKHEAD_OK) return BULKHEAD_OK;
  return Fail(kernel_result_, kernel_error_);
}

void DeviceDecoder::DecodeAndUpload() {
  kernel_result_ = decoder_->Receive(decoded_.get());
  if (kernel_result_ != BULKHEAD_OK) {
    kernel_error_ = decoder_->last_error();
    return;
  }
  decoder_->Describe(*decoded_, &description_);
  kernel_result_ = Upload();
  av_frame_unref(decoded_.get());
}

bulkhead_result DeviceDecoder::Upload() {
  picture_.reset();
  const int bytes = BytesOf(description_);
  if (bytes <= 0) {
    kernel_error_ = "the device cannot hold frames of this format";
    return BULKHEAD_UNSUPPORTED;
  }
  picture_ = memory_.Allocate(bytes);
  if (!picture_) {
    kernel_error_ = "a frame of " + std::to_string(bytes) +
                    " bytes does not fit in the device's memory of " +
                    std::to_string(memory_.capacity());
    return BULKHEAD_OUT_OF_MEMORY;
  }
  const auto access = picture_->Open();
  if (access && IsAudio(description_)) {
    PackPlanes(description_, access->data());
    return BULKHEAD_OK;
  }
  if (!access || av_image_copy_to_buffer(
                     access->data(), bytes, decoded_->data, decoded_->linesize,
                     FormatOf(description_), description_.width,
                     description_.height, kAlignment) < 0) {
    kernel_error_ = "a picture could not be copied to the device";
    return BULKHEAD_FAILED;
  }
  return BULKHEAD_OK;
}

bulkhead_result DeviceDecoder::ChooseTarget() {
  own_memory_.reset();
  buffer_ = nullptr;
  target_ = {};
  // Download() allocates the memory for samples.
  if (IsAudio(description_)) return BULKHEAD_OK;
  const AVPixelFormat format = FormatOf(description_);
  // The runtime has no buffers for pictures with a palette.
  if (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_PAL) {
    return UseOwnMemory();
  }
  const bulkhead_buffer_request request = {
      .size = sizeof(request),
      .pixel_format = description_.pixel_format,
      .width = description_.width,
      .height = description_.height,
      .alignment = kAlignment,
  };
  bulkhead_buffer buffer = {.size = sizeof(buffer)};
  const bulkhead_result acquired =
      runtime_.acquire_buffer(runtime_.context, &request, &buffer);
  if (acquired == BULKHEAD_UNSUPPORTED) return UseOwnMemory();
  if (acquired != BULKHEAD_OK) {
    return Fail(acquired, "the runtime has no buffer for a picture");
  }
  const int planes = av_pix_fmt_count_planes(format);
  std::copy_n(buffer.data, planes, target_.data);
  std::copy_n(buffer.stride, planes, target_.stride);
  buffer_ = buffer.handle;
  return BULKHEAD_OK;
}

bulkhead_result DeviceDecoder::UseOwnMemory() {
  own_memory_.reset(new uint8_t[BytesOf(description_)]);
  av_image_fill_arrays(target_.data, target_.stride, own_memory_.get(),
                       FormatOf(description_), description_.width,
                       description_.height, kAlignment);
  return BULKHEAD_OK;
}

void DeviceDecoder::Download() {
  const auto access = picture_->Open();
  if (!access) {
    kernel_result_ = BULKHEAD_FAILED;
    kernel_error_ = "a picture could not be copied from the device";
    return;
  }
  kernel_result_ = BULKHEAD_OK;
  if (IsAudio(description_)) {
    own_memory_ = UnpackPlanes(description_, access->data());
    return;
  }
  uint8_t* source[4];
  int stride[4];
  const AVPixelFormat format = FormatOf(description_);
  av_image_fill_arrays(source, stride, access->data(), format,
                       description_.width, description_.height, kAlignment);
  av_image_copy(target_.data, target_.stride,
                const_cast<const uint8_t**>(source), stride, format,
                description_.width, description_.height);
}

bulkhead_result DeviceDecoder::Fail(bulkhead_result result,
                                    std::string sentence) {
  last_error_ = std::move(sentence);
  return result;
}

}  // namespace bulkhead::openreg
