// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/cancellation.h"

#include "core/application/supervisor_link/cancel_signal.h"

namespace bulkhead {

Result<Cancellation> Cancellation::Create() {
  return Cancellation(std::make_shared<supervisor_link::CancelSignal>());
}

void Cancellation::Cancel() const { signal_->Raise(); }

}  // namespace bulkhead
