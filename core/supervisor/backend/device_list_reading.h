// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/devices.h"
#include "ipc/message_socket.h"

namespace bulkhead::supervisor {

// Functions that read the only message of a worker that counts the devices of
// its backend. The worker is hostile. Pure functions.

// Returns the devices of the list, at least one and at most 64, with texts that
// are short and safe to show. Each has one of the names that the manifest of
// the backend reserves, `reserved`. Returns kBackendUnavailable if the worker
// found no device or says why it cannot count them, and kBackendMisbehaved if
// it broke the protocol.
Result<std::vector<CountedDevice>> ReadDeviceList(
    ipc::ReceivedMessage& list_untrusted,
    const std::vector<std::string>& reserved);

// Returns what the worker says of its crash, if that is what it sent.
std::optional<CrashClaim> ReadProbeCrash(ipc::ReceivedMessage& list_untrusted);

}  // namespace bulkhead::supervisor
