// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/openreg_backend.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "backends/libav_codec/capabilities.h"
#include "backends/openreg/device_decoder.h"
#include "backends/sdk/bulkhead_backend.hpp"

namespace bulkhead::openreg {
namespace {

// Large enough for one RGBA picture of 16384 x 8192.
constexpr size_t kDeviceBytes = size_t{512} << 20;

constexpr const char* kDescriptions[] = {
    "simulated accelerator, first",
    "simulated accelerator, second",
};

struct Openreg {
  using Decoder = DeviceDecoder;
  static constexpr const char* kName = "openreg";
  static constexpr const char* kVersion = "0.1.0";
  static constexpr uint32_t kStreamKinds =
      BULKHEAD_DECODES_VIDEO | BULKHEAD_DECODES_AUDIO;

  static sdk::Outcome EnumerateDevices(const bulkhead_runtime&,
                                       const sdk::Emit& emit) {
    const libav_codec::Capabilities capabilities;
    for (const char* description : kDescriptions) {
      bulkhead_device device = {.name = "openreg", .description = description};
      capabilities.Describe(&device);
      emit(device);
    }
    return BULKHEAD_OK;
  }

  static sdk::Outcome Open(const bulkhead_open_parameters& parameters,
                           const bulkhead_runtime& runtime,
                           std::unique_ptr<Decoder>* decoder) {
    if (parameters.device >= std::size(kDescriptions)) {
      return {BULKHEAD_UNSUPPORTED,
              "there are two devices, openreg:0 and openreg:1; device " +
                  std::to_string(parameters.device) + " was asked for"};
    }
    auto opened = DeviceDecoder::Open(parameters, runtime, kDeviceBytes);
    if (!opened) {
      return {opened.error().result, std::move(opened.error().sentence)};
    }
    *decoder = *std::move(opened);
    return BULKHEAD_OK;
  }
};

}  // namespace
}  // namespace bulkhead::openreg

const bulkhead_backend* bulkhead_openreg_backend(void) {
  return bulkhead::sdk::TableOf<bulkhead::openreg::Openreg>();
}
