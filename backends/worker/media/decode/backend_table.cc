// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/backend_table.h"

#include <algorithm>
#include <string>

#include "backends/sdk/bulkhead_backend.hpp"

namespace bulkhead::worker::decode {
namespace {

AbiRange RangeOf(const bulkhead_backend& table) {
  const uint32_t oldest = table.min_abi_version;
  return {oldest == 0 ? table.abi_version : oldest, table.abi_version};
}

std::string InWords(AbiRange range) {
  const std::string newest = std::to_string(range.newest);
  if (range.oldest == range.newest) return "version " + newest;
  return "versions " + std::to_string(range.oldest) + " to " + newest;
}

}  // namespace

uint32_t VersionInForce(const bulkhead_backend& backend, AbiRange served) {
  const AbiRange offered = RangeOf(sdk::TakeSized(backend));
  const uint32_t newest = std::min(offered.newest, served.newest);
  return newest >= std::max(offered.oldest, served.oldest) ? newest : 0;
}

ipc::Expected<void> ValidateBackend(const bulkhead_backend* backend,
                                    AbiRange served) {
  if (backend == nullptr) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the backend's entry point returned no table; report it "
                     "to the vendor of the backend");
  }
  const bulkhead_backend table = sdk::TakeSized(*backend);
  if (VersionInForce(table, served) == 0) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the backend serves " + InWords(RangeOf(table)) +
                         " of the ABI, and this Bulkhead " + InWords(served) +
                         ": install releases of both that fit");
  }
  if (table.name == nullptr || table.version == nullptr ||
      table.enumerate_devices == nullptr || table.open == nullptr ||
      table.send_packet == nullptr || table.receive_frame == nullptr ||
      table.release_frame == nullptr || table.flush == nullptr ||
      table.close == nullptr || table.last_error == nullptr) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the backend's table leaves out its name, its version or "
                     "one of its functions, which are all required; report it "
                     "to the vendor of the backend");
  }
  return {};
}

}  // namespace bulkhead::worker::decode
