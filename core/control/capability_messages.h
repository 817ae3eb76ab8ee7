// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/device_capabilities.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Limits the number of texts that are read from one message. A hostile message
// can refer to one text many times, so the size of the message does not limit
// them.
class TextBudget {
 public:
  // Takes `texts` texts from the budget. Returns false if it has fewer left.
  bool Take(size_t texts);

 private:
  size_t left_ = 8192;
};

// Reads what a device declares about itself. bulkheadd reads the message of a
// probe worker, which may be hostile; the application reads the message of
// bulkheadd. `before` is the previous device in the list, null for the first
// device. The message may say that the streams are the same as those of
// `before`. Texts are cut and made safe to show. Returns kBackendMisbehaved if
// there are too many texts.
Result<DeviceCapabilities> ReadCapabilities(
    ipc::schema::Capabilities::Reader capabilities_untrusted,
    const DeviceCapabilities* before, TextBudget& budget);
void Write(const DeviceCapabilities& capabilities,
           ipc::schema::Capabilities::Builder out);

}  // namespace bulkhead
