// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/stream_choice.h"

#include <algorithm>

namespace bulkhead::catalog {

Status CheckDecodes(const std::vector<BackendPointer>& usable,
                    const backend::Backend& backend,
                    discovery::StreamKind kind) {
  const auto decodes = [kind](const backend::Backend& candidate) {
    return candidate.candidate().manifest.streams.count(kind) > 0;
  };
  if (decodes(backend)) return Status();
  std::string able;
  for (const BackendPointer& other : usable) {
    if (!decodes(*other)) continue;
    for (const auto& device : other->devices()) {
      able += (able.empty() ? "" : ", ") + device.name;
    }
  }
  const std::string words = discovery::NameOf(kind);
  return Status(Code::kUnsupported,
                "backend " + backend.candidate().name() + " does not decode " +
                    words + "; " +
                    (able.empty() ? "no backend that is installed does"
                                  : "devices that do: " + able));
}

std::string DescriberFor(const std::vector<BackendPointer>& usable,
                         const backend::Backend& backend) {
  if (backend.lifecycle().serving()) return "";
  const auto devices = backend.devices();
  const bool declares_codecs =
      std::any_of(devices.begin(), devices.end(),
                  [](const backend::DescribedDevice& device) {
                    return !device.capabilities.streams.empty();
                  });
  if (!declares_codecs) return "";
  std::string describer;
  for (const BackendPointer& other : usable) {
    const auto offered = other->devices();
    if (!other->candidate().built_in || other->lifecycle().disabled() ||
        other.get() == &backend || offered.empty()) {
      continue;
    }
    if (other->lifecycle().serving()) return offered.front().name;
    if (describer.empty()) describer = offered.front().name;
  }
  return describer;
}

}  // namespace bulkhead::catalog
