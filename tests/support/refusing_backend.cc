// SPDX-License-Identifier: Apache-2.0
#include "tests/support/refusing_backend.h"

namespace bulkhead::tests {

bulkhead_backend RefusingBackend(
    const char* name,
    decltype(bulkhead_backend::enumerate_devices) enumerate_devices,
    decltype(bulkhead_backend::open) open,
    decltype(bulkhead_backend::last_error) last_error) {
  bulkhead_backend table = {};
  table.size = sizeof(table);
  table.abi_version = BULKHEAD_ABI_VERSION;
  table.name = name;
  table.version = "0.1.0";
  table.enumerate_devices = enumerate_devices;
  table.open = open;
  table.send_packet = [](bulkhead_decoder*, const bulkhead_packet*) {
    return BULKHEAD_FAILED;
  };
  table.receive_frame = [](bulkhead_decoder*, bulkhead_frame*) {
    return BULKHEAD_FAILED;
  };
  table.release_frame = [](bulkhead_decoder*, bulkhead_frame*) {};
  table.flush = [](bulkhead_decoder*) {};
  table.close = [](bulkhead_decoder*) {};
  table.last_error = last_error;
  return table;
}

}  // namespace bulkhead::tests
