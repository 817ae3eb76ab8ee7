// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/libav_codec/failure.h"
#include "backends/libav_codec/libav_decoder.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/openreg/device_memory.h"
#include "backends/openreg/device_stream.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::openreg {

// One stream of media on one simulated device. What is said of pictures holds
// for frames of audio too, but that they come in memory of the decoder's own.
//
// The device decodes on its own thread into its own memory. Receive takes one
// picture at a time that way: decode and upload are one kernel, the copy down
// into the runtime's buffer is the next. So a decoder holds at most one
// picture of device memory, and a full device shows as OUT_OF_MEMORY.
//
// Used by one thread. A kernel that does not end within a minute means
// DEVICE_LOST, from then on and for every call; whatever such a kernel may
// still touch is kept until the destructor, which waits for it.
class DeviceDecoder {
 public:
  static libav_codec::Expected<std::unique_ptr<DeviceDecoder>> Open(
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime& runtime, size_t device_bytes);
  DeviceDecoder(const DeviceDecoder&) = delete;
  DeviceDecoder& operator=(const DeviceDecoder&) = delete;

  bulkhead_result Send(const bulkhead_packet* packet);
  bulkhead_result Receive(bulkhead_frame* frame);
  void Release(bulkhead_frame* frame);
  void Flush();
  const std::string& last_error() const { return last_error_; }

 private:
  // Host memory in which one downloaded picture lies.
  struct Planes {
    uint8_t* data[4] = {};
    int stride[4] = {};
  };

  DeviceDecoder(const bulkhead_runtime& runtime, size_t device_bytes);

  // Launches on the stream and waits.
  bulkhead_result Execute(DeviceStream::Kernel kernel);
  void DecodeAndUpload();
  bulkhead_result Upload();
  bulkhead_result ChooseTarget();
  bulkhead_result UseOwnMemory();
  void Download();
  bulkhead_result Fail(bulkhead_result result, std::string sentence);

  const bulkhead_runtime runtime_;
  DeviceMemory memory_;
  std::string last_error_;
  bool lost_ = false;

  // What kernels use: members, so that a hung one finds them.
  std::unique_ptr<libav_codec::LibavDecoder> decoder_;
  libav_codec::PacketPtr packet_;
  libav_codec::FramePtr decoded_;
  std::optional<DeviceAllocation> picture_;
  bulkhead_frame description_{};
  Planes target_;
  bulkhead_result kernel_result_ = BULKHEAD_OK;
  std::string kernel_error_;
  // Where the picture goes: the runtime's buffer or, if that is null, this.
  void* buffer_ = nullptr;
  std::unique_ptr<uint8_t[]> own_memory_;

  // Last: its destructor waits for the kernels.
  DeviceStream stream_;
};

}  // namespace bulkhead::openreg
