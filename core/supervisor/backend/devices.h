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

// A device that the probe, the worker that counts devices, has reported.
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

// The devices of one backend. Before the probe has counted them, Describe()
// lists the names that the manifest reserves. Owned by Incarnations. Not
// thread-safe.
class Devices {
 public:
  // `candidate` must outlive this object.
  explicit Devices(const discovery::BackendCandidate& candidate)
      : candidate_(candidate) {}

  void Set(std::vector<CountedDevice> counted) {
    counted_ = std::move(counted);
  }
  // Returns the first counted device. Call it only after a start has succeeded:
  // without a device, a start fails.
  const CountedDevice& first() const { return counted_.front(); }
  // Returns the counted device `name`; without an index, the first of that
  // name. Fails with kNotFound, and names the devices that exist.
  Result<CountedDevice> Find(const DeviceName& name) const;
  // Returns the devices with the names that callers use.
  std::vector<DescribedDevice> Describe() const;

 private:
  const discovery::BackendCandidate& candidate_;
  std::vector<CountedDevice> counted_;
};

// The following functions read the only message of a worker that counts the
// devices of its backend. The worker is hostile. They are pure functions.

// Returns the devices of the list, at least one and at most 64, with texts that
// are short and safe to show. Each has one of the names `reserved`, which the
// manifest of the backend reserves. Fails with kBackendUnavailable if the
// worker found no device or says why it cannot count them, and with
// kBackendMisbehaved if it broke the protocol.
Result<std::vector<CountedDevice>> ReadDeviceList(
    ipc::ReceivedMessage& list_untrusted,
    const std::vector<std::string>& reserved);

// Returns what the worker says of its crash; nullopt if it reports no crash.
std::optional<CrashClaim> ReadProbeCrash(ipc::ReceivedMessage& list_untrusted);

}  // namespace bulkhead::backend
