// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead demo`: decodes a clip while its decoders are being killed, and
// shows that nothing of it can be seen in the frames.
void AddDemoCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
