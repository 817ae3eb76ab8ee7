// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/devices.h"

namespace bulkhead::supervisor {

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
  const auto add = [&](const std::string& name, const std::string& words) {
    described.push_back({discovery::CallersName(candidate_, name), words});
  };
  for (const CountedDevice& device : counted_) {
    add(device.text(), device.description);
  }
  if (!counted_.empty()) return described;
  for (const std::string& name : candidate_.manifest.devices) add(name, "");
  return described;
}

}  // namespace bulkhead::supervisor
