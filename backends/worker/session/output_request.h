// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/convert/output_converter.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Returns the format of frames that the host's `open` request asks for.
convert::OutputFormat ReadOutput(ipc::schema::Open::Reader open);

}  // namespace bulkhead::worker::session
