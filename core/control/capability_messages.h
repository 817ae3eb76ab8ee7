// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/device_capabilities.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Counts down the texts that one message may hold. A hostile message can name
// one text many times.
class TextBudget {
 public:
  // Returns false once too many texts were taken.
  bool Take(size_t texts);

 private:
  size_t left_ = 8192;
};

// Reads what a device says of itself, on its way from a hostile probe worker to
// bulkheadd, and from there to the application. `before` is the device before
// it in the list, or null. Texts are cut and made safe to show. Returns
// kBackendMisbehaved if there are too many of them.
Result<DeviceCapabilities> ReadCapabilities(
    ipc::schema::Capabilities::Reader capabilities_untrusted,
    const DeviceCapabilities* before, TextBudget& budget);
void Write(const DeviceCapabilities& capabilities,
           ipc::schema::Capabilities::Builder out);

}  // namespace bulkhead
