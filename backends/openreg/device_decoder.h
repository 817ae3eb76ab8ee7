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

// Decodes one stream of media on one simulated device. Audio frames pass
// through the device like pictures, but Receive returns them in the class's own
// memory, not in a buffer of the runtime.
//
// The device runs kernels (device_stream.h) on its own thread and has its own
// memory (device_memory.h). Receive handles one picture at a time: one kernel
// decodes the picture and uploads it to the device, and the next kernel
// downloads it to the runtime's buffer. A decoder therefore holds at most one
// picture in device memory. If the device is full, Receive returns
// OUT_OF_MEMORY.
//
// Used by one thread. If a kernel does not end within a minute, the current
// call and all later ones return DEVICE_LOST. Memory that the kernel may still
// use is kept until the destructor, which waits for the kernel.
class DeviceDecoder {
 public:
  static libav_codec::Expected<std::unique_ptr<DeviceDecoder>> Open(
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime& runtime, size_t device_bytes);
  DeviceDecoder(const DeviceDecoder&) = delete;
  DeviceDecoder& operator=(const DeviceDecoder&) = delete;

  bulkhead_result Send(const bulkhead_packet* packet);
  bulkhead_result Receive(bulkhead_frame* frame);
  void Release(const bulkhead_frame& frame);
  void Flush();
  const std::string& last_error() const { return last_error_; }

 private:
  // The host memory that a picture is downloaded to.
  struct Planes {
    uint8_t* data[4] = {};
    int stride[4] = {};
  };

  DeviceDecoder(const bulkhead_runtime& runtime, size_t device_bytes);

  // Launches `kernel` and waits until it is done. Returns kernel_result_, or
  // DEVICE_LOST.
  bulkhead_result Execute(DeviceStream::Kernel kernel);
  // These run in kernels, on the device's thread. They set kernel_result_;
  // Upload() returns its result instead.
  void DecodeAndUpload();
  bulkhead_result Upload();
  void Download();
  // Sets target_ to a buffer of the runtime, or to own_memory_ if the runtime
  // has no buffer for such a picture.
  bulkhead_result ChooseTarget();
  // Allocates own_memory_ and sets target_ to it. Returns OK.
  bulkhead_result UseOwnMemory();
  // Sets last_error_ and returns `result`.
  bulkhead_result Fail(bulkhead_result result, std::string sentence);

  const bulkhead_runtime runtime_;
  DeviceMemory memory_;
  std::string last_error_;
  bool lost_ = false;  // a kernel has hung

  // Objects that kernels use. They are members, so that they outlive a call
  // whose kernel hangs.
  std::unique_ptr<libav_codec::LibavDecoder> decoder_;
  libav_codec::PacketPtr packet_;
  libav_codec::FramePtr decoded_;
  std::optional<DeviceAllocation> picture_;
  bulkhead_frame description_{};
  Planes target_;
  bulkhead_result kernel_result_ = BULKHEAD_OK;
  std::string kernel_error_;
  // The handle of the runtime's buffer for the picture; null if the picture
  // goes to own_memory_.
  void* buffer_ = nullptr;
  std::unique_ptr<uint8_t[]> own_memory_;

  // The last member, so destroyed first: its destructor waits for the kernels,
  // which use the members above.
  DeviceStream stream_;
};

}  // namespace bulkhead::openreg
