// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/device_name.h"
#include "core/control/crash_note.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/device_capabilities.h"
#include "core/include/bulkhead/status.h"
#include "ipc/message_socket.h"

namespace bulkhead::backend {

// A device that a probe worker has counted.
struct CountedDevice {
  std::string name;
  uint32_t index;    // among the devices of that name
  uint32_t ordinal;  // among all devices of the backend
  std::string description;
  DeviceCapabilities capabilities;

  // Returns the canonical name: "openreg:1".
  std::string text() const { return name + ":" + std::to_string(index); }
};

// A device as callers and operators see it.
struct DescribedDevice {
  std::string name;
  std::string description;
  DeviceCapabilities capabilities;
};

// The devices of one backend: the names that its manifest reserves, until a
// probe has counted what is there. Owned by BackendProcesses. Not thread-safe.
class Devices {
 public:
  // `candidate` must outlive this object.
  explicit Devices(const discovery::BackendCandidate& candidate)
      : candidate_(candidate) {}

  void Set(std::vector<CountedDevice> counted) {
    counted_ = std::move(counted);
  }
  // Returns the first device that was counted; there is one once a start has
  // succeeded.
  const CountedDevice& first() const { return counted_.front(); }
  // Fails with kNotFound, naming the devices that there are.
  Result<CountedDevice> Find(const DeviceName& name) const;
  // Returns the devices by the names that a caller uses.
  std::vector<DescribedDevice> Describe() const;

 private:
  const discovery::BackendCandidate& candidate_;
  std::vector<CountedDevice> counted_;
};

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

}  // namespace bulkhead::backend
