// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/application_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::supervisor {
namespace {

// Hundreds of processes are usual for a user, and backends need a few. Some
// systems allow as few as sandbox::Limits::tasks by default.
constexpr rlim_t kFewTasks = 256;

// Which of the two values of a limit a backend inherits.
enum class Value { kSoft, kHard };

struct Inherited {
  __rlimit_resource resource;
  Value value;
  rlim_t enough;
  rlim_t unit;
  const char* words;
};

}  // namespace

std::string LowLimits() {
  const sandbox::Limits enough;
  // The launch raises the soft value of all but RLIMIT_DATA. bulkheadd itself
  // needs descriptors for a launch.
  const std::array<Inherited, 4> all = {{
      {RLIMIT_AS, Value::kHard, enough.address_space_bytes, 1024,
       " KiB of address space (ulimit -v)"},
      {RLIMIT_DATA, Value::kSoft, enough.address_space_bytes, 1024,
       " KiB of private memory (ulimit -d)"},
      {RLIMIT_NPROC, Value::kHard, kFewTasks, 1,
       " processes and threads of this user (ulimit -u)"},
      {RLIMIT_NOFILE, Value::kSoft, enough.open_files, 1,
       " open files (ulimit -n)"},
  }};
  std::string low;
  for (const Inherited& inherited : all) {
    rlimit limit = {};
    if (::getrlimit(inherited.resource, &limit) != 0) continue;
    const rlim_t value =
        inherited.value == Value::kSoft ? limit.rlim_cur : limit.rlim_max;
    if (value >= inherited.enough) continue;
    low += (low.empty() ? "" : ", ") + std::to_string(value / inherited.unit) +
           inherited.words;
  }
  return low;
}

bool SaysExhausted(const std::string& text) {
  constexpr std::array<std::string_view, 7> kSayings = {
      "Cannot allocate memory",
      "Resource temporarily unavailable",
      "Too many open files",
      "cannot allocate",
      "cannot create",
      "failed to map segment",
      "bad_alloc"};
  return std::any_of(kSayings.begin(), kSayings.end(),
                     [&](std::string_view saying) {
                       return text.find(saying) != std::string::npos;
                     });
}

std::string RaiseTheLimits(const std::string& low_limits) {
  return "a backend has the limits that the application was started with: " +
         low_limits + "; raise them there and start the application again";
}

}  // namespace bulkhead::supervisor
