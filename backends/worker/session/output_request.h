// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/output_converter.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker {

// What the host wants frames to be, from its request.
OutputFormat ReadOutput(ipc::schema::Output::Reader output);

}  // namespace bulkhead::worker
