// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/devices.h"

namespace bulkhead::supervisor {
namespace {

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

Result<CountedDevice> Devices::Find(const discovery::DeviceName& name) const {
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
  const auto add = [&](const std::string& name, const std::string& words,
                       const DeviceCapabilities& told) {
    described.push_back(
        {discovery::CallersName(candidate_, name), words, told});
    if (told.streams.empty()) {
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

}  // namespace bulkhead::supervisor
