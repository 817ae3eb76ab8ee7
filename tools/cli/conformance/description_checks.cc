// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/usage.h"

namespace bulkhead::cli::conformance {
namespace {

Verdict Loads(Subject& subject) {
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  const Status started = (*host)->Prewarm(subject.device());
  // kNotFound means that the user named an index, such as acme:7, that the
  // backend has not counted. The caller reports it; the backend has loaded.
  if (!started.ok() && started.code() != Code::kNotFound) {
    return FailedBy(started, "life-1");
  }
  const auto backend = subject.Describe(**host);
  if (!backend) return FailedBy(backend.error(), "life-1");
  subject.SetCounted(*backend);
  return Verdict::Passed();
}

// Counts the threads of the zygote, which has run the vendor's static
// constructors and entry function: there must be the main thread only.
Verdict StartsNoThread(Subject& subject) {
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  const Status started = (*host)->Prewarm(subject.device());
  if (!started.ok()) return FailedBy(started, "life-1");
  const auto backend = subject.Describe(**host);
  if (!backend) return FailedBy(backend.error(), "life-1");
  const auto usage = UsageOf(backend->zygote_pid);
  if (!usage) {
    return Verdict::NotTried(
        "there is no process that has loaded the backend beforehand, or /proc "
        "does not show it");
  }
  if (usage->threads == 1) return Verdict::Passed();
  return Verdict::Failed(
      "life-2", fmt::format("the process that has loaded the backend, and that "
                            "is cloned for each stream, has {} threads",
                            usage->threads));
}

std::vector<std::string> NamesOf(const BackendInfo& backend) {
  std::vector<std::string> names;
  for (const DeviceInfo& device : backend.devices) {
    names.push_back(device.name + " " + device.description);
  }
  return names;
}

// Compares the devices of three further incarnations with the devices of the
// first.
Verdict CountsTheSameDevices(Subject& subject) {
  constexpr int kTimes = 3;
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "device-2");
  for (int i = 0; i < kTimes; ++i) {
    Status started = (*host)->Restart(subject.backend().name);
    if (started.ok()) started = (*host)->Prewarm(subject.device());
    if (!started.ok()) return FailedBy(started, "device-2");
    const auto backend = subject.Describe(**host);
    if (!backend) return FailedBy(backend.error(), "device-2");
    if (NamesOf(*backend) != NamesOf(subject.backend())) {
      return Verdict::Failed(
          "device-2", fmt::format("one process counted {} devices, another {}, "
                                  "or in another order",
                                  subject.backend().devices.size(),
                                  backend->devices.size()));
    }
  }
  return Verdict::Passed();
}

}  // namespace

Check LoadingCheck() { return {"loads", "life-1", Loads}; }

std::vector<Check> DescriptionChecks() {
  return {
      {"starts no thread when it is loaded", "life-2", StartsNoThread},
      {"counts the same devices each time", "device-2", CountsTheSameDevices},
  };
}

}  // namespace bulkhead::cli::conformance
