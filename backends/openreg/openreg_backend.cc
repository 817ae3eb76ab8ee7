// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/openreg_backend.h"

#include <string>

#include "backends/libav_codec/capabilities.h"
#include "backends/openreg/device_decoder.h"
#include "backends/sdk/sized.h"

namespace bulkhead::openreg {
namespace {

// Large enough for one RGBA picture of 16384 x 8192.
constexpr size_t kDeviceBytes = size_t{512} << 20;

constexpr const char* kDescriptions[] = {
    "simulated accelerator, first",
    "simulated accelerator, second",
};

// The sentence of a failed open, which belongs to no decoder. One for each
// thread, since the ABI allows several calls of open at the same time.
thread_local std::string open_error;

DeviceDecoder* Self(bulkhead_decoder* decoder) {
  return reinterpret_cast<DeviceDecoder*>(decoder);
}

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const libav_codec::Capabilities capabilities;
  for (const char* description : kDescriptions) {
    bulkhead_device device = {
        .size = sizeof(device), .name = "openreg", .description = description};
    capabilities.Describe(&device);
    emit(emit_context, &device);
  }
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  const auto taken = sdk::TakeSized(*parameters);
  if (taken.device >= std::size(kDescriptions)) {
    open_error = "there are two devices, openreg:0 and openreg:1; device " +
                 std::to_string(taken.device) + " was asked for";
    return BULKHEAD_UNSUPPORTED;
  }
  auto opened =
      DeviceDecoder::Open(taken, sdk::TakeSized(*runtime), kDeviceBytes);
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
  return Self(decoder)->Receive(frame);
}

void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  Self(decoder)->Release(frame);
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
    .name = "openreg",
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
}  // namespace bulkhead::openreg

const bulkhead_backend* bulkhead_openreg_backend(void) {
  return &bulkhead::openreg::kBackend;
}
