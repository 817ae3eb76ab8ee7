// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/devices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/control/capability_messages.h"
#include "ipc/capnp_read.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;
using CountedDevices = std::vector<CountedDevice>;

constexpr size_t kMaxDevices = 64;
constexpr size_t kMaxReasonBytes = 512;
constexpr size_t kMaxDescriptionBytes = 200;

Status Misbehaved(std::string what) {
  return Status(Code::kBackendMisbehaved, std::move(what));
}

Result<CountedDevices> ReadDevices(
    capnp::List<schema::Device>::Reader devices_untrusted,
    const std::vector<std::string>& reserved) {
  if (devices_untrusted.size() == 0) {
    return Status(Code::kBackendUnavailable, "it found no device");
  }
  if (devices_untrusted.size() > kMaxDevices) {
    return Misbehaved("it names too many devices");
  }
  CountedDevices devices;
  TextBudget budget;
  for (const auto device_untrusted : devices_untrusted) {
    const std::string name = device_untrusted.getName().cStr();
    if (std::find(reserved.begin(), reserved.end(), name) == reserved.end()) {
      return Misbehaved("it names the device \"" + CleanText(name, 64) +
                        "\", which its manifest does not reserve");
    }
    const auto index = static_cast<uint32_t>(
        std::count_if(devices.begin(), devices.end(),
                      [&](const CountedDevice& d) { return d.name == name; }));
    // A device may declare to have the same capabilities as the one before it.
    auto capabilities = ReadCapabilities(
        device_untrusted.getCapabilities(),
        devices.empty() ? nullptr : &devices.back().capabilities, budget);
    if (!capabilities) return std::move(capabilities).error();
    devices.push_back({name, index, static_cast<uint32_t>(devices.size()),
                       CleanText(device_untrusted.getDescription().cStr(),
                                 kMaxDescriptionBytes),
                       *std::move(capabilities)});
  }
  return devices;
}

DeviceCapabilities ListedBy(const discovery::Manifest& manifest) {
  DeviceCapabilities listed;
  if (manifest.codecs.empty()) return listed;
  for (const discovery::StreamKind kind : manifest.streams) {
    listed.streams.push_back(
        {.kind = discovery::NameOf(kind), .codecs = manifest.codecs});
  }
  return listed;
}

}  // namespace

Result<CountedDevice> Devices::Find(const DeviceName& name) const {
  for (const CountedDevice& device : counted_) {
    if (device.name == name.name && device.index == name.index.value_or(0)) {
      return device;
    }
  }
  std::string known;
  for (const DescribedDevice& device : Describe()) known += " " + device.name;
  return Status(Code::kNotFound, "there is no device " + name.ToString() +
                                     "; the backend has:" + known);
}

std::vector<DescribedDevice> Devices::Describe() const {
  std::vector<DescribedDevice> described;
  const DeviceCapabilities listed = ListedBy(candidate_.manifest);
  // A device that declares no streams has those that the manifest lists.
  const auto add = [&](const std::string& name, const std::string& description,
                       const DeviceCapabilities& declared) {
    described.push_back(
        {discovery::CallersName(candidate_, name), description, declared});
    if (declared.streams.empty()) {
      described.back().capabilities.streams = listed.streams;
    }
  };
  for (const CountedDevice& device : counted_) {
    add(device.text(), device.description, device.capabilities);
  }
  if (!counted_.empty()) return described;
  for (const std::string& name : candidate_.manifest.devices) {
    add(name, "", {});
  }
  return described;
}

Result<CountedDevices> ReadDeviceList(
    ipc::ReceivedMessage& list_untrusted,
    const std::vector<std::string>& reserved) {
  auto read = ipc::ReadCatching([&]() -> ipc::Expected<Result<CountedDevices>> {
    auto root = list_untrusted.root<schema::DeviceList>();
    if (!root) return tl::unexpected(std::move(root).error());
    if (root->isFailed()) {
      return Result<CountedDevices>(Status(
          Code::kBackendUnavailable,
          CleanText(root->getFailed().getMessage().cStr(), kMaxReasonBytes)));
    }
    if (!root->isDevices()) {
      return Result<CountedDevices>(Misbehaved("it sent an unknown message"));
    }
    return ReadDevices(root->getDevices(), reserved);
  });
  return read ? *std::move(read) : FromIpc(std::move(read).error());
}

std::optional<CrashClaim> ReadProbeCrash(ipc::ReceivedMessage& list_untrusted) {
  auto claim =
      ipc::ReadCatching([&]() -> ipc::Expected<std::optional<CrashClaim>> {
        auto root = list_untrusted.root<schema::DeviceList>();
        if (!root) return tl::unexpected(std::move(root).error());
        if (!root->isCrashed()) return std::optional<CrashClaim>();
        return std::make_optional(ReadCrashNote(root->getCrashed()));
      });
  return claim ? *std::move(claim) : std::nullopt;
}

}  // namespace bulkhead::backend
