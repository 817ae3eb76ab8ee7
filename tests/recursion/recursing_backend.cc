// SPDX-License-Identifier: Apache-2.0
//
// Plugins that start Bulkhead themselves, with the library linked into them.

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "bulkhead/host.h"

namespace {

thread_local std::string open_error;

std::string StartBulkhead() {
  const auto host = bulkhead::Host::Create({});
  return host ? "there is a Host" : host.error().message();
}

template <const char* kName>
bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const bulkhead_device device = {
      .size = sizeof(device), .name = kName, .description = "recursion"};
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters*, const bulkhead_runtime*,
                     bulkhead_decoder**) {
  open_error = StartBulkhead();
  return BULKHEAD_UNSUPPORTED;
}

template <const char* kName>
constexpr bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .name = kName,
    .version = "1.0",
    .enumerate_devices = EnumerateDevices<kName>,
    .open = Open,
    .send_packet = [](bulkhead_decoder*,
                      const bulkhead_packet*) { return BULKHEAD_FAILED; },
    .receive_frame = [](bulkhead_decoder*,
                        bulkhead_frame*) { return BULKHEAD_FAILED; },
    .release_frame = [](bulkhead_decoder*, bulkhead_frame*) {},
    .flush = [](bulkhead_decoder*) {},
    .close = [](bulkhead_decoder*) {},
    .last_error = [](bulkhead_decoder*) { return open_error.c_str(); },
};

constexpr char kServes[] = "recurses_and_serves";
constexpr char kInOpen[] = "recurses_in_open";

}  // namespace

extern "C" {

const bulkhead_backend* recurses() {
  StartBulkhead();
  return nullptr;
}

const bulkhead_backend* recurses_and_serves() {
  StartBulkhead();
  return &kBackend<kServes>;
}

const bulkhead_backend* recurses_and_throws() { throw StartBulkhead(); }

const bulkhead_backend* recurses_in_open() { return &kBackend<kInOpen>; }
}
