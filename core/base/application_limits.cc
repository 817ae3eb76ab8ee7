// SPDX-License-Identifier: Apache-2.0
#include "core/base/application_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace bulkhead {
namespace {

// Hundreds of processes are usual for a user, and backends need a few. Some
// systems allow as few as sandbox::Limits::tasks by default.
constexpr rlim_t kFewTasks = 256;
// The threads of a decoder have a stack of the limit's size.
constexpr rlim_t kStackBytes = rlim_t{1} << 20;

// The kernel's errors, in words, for a process and for a file too many.
constexpr char kNoProcess[] = "Resource temporarily unavailable";
constexpr char kNoFile[] = "Too many open files";

// Names the value of a limit, of the two, that a backend inherits.
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
  // bulkheadd and the launch raise the soft value of all but RLIMIT_DATA.
  const std::array<Inherited, 5> all = {{
      {RLIMIT_AS, Value::kHard, kBackendAddressSpaceBytes, 1024,
       " KiB of address space (ulimit -v)"},
      {RLIMIT_DATA, Value::kSoft, kBackendAddressSpaceBytes, 1024,
       " KiB of private memory (ulimit -d)"},
      {RLIMIT_NPROC, Value::kHard, kFewTasks, 1,
       " processes and threads of this user (ulimit -u)"},
      {RLIMIT_NOFILE, Value::kHard, kBackendOpenFiles, 1,
       " open files (ulimit -n)"},
      {RLIMIT_STACK, Value::kHard, kStackBytes, 1024,
       " KiB of stack (ulimit -s)"},
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

std::string NearOpenFiles(int newest) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  const auto open = static_cast<rlim_t>(newest) + 1;
  // Without division, which loses the limits below ten.
  if (newest < 0 || limit.rlim_cur == RLIM_INFINITY ||
      open * 10 < limit.rlim_cur * 9) {
    return "";
  }
  return "the application has " + std::to_string(open) + " of the " +
         std::to_string(limit.rlim_cur) +
         " open files that it may have, and each stream takes one: raise its "
         "limit on open files (ulimit -n, RLIMIT_NOFILE) or close some";
}

std::optional<uint64_t> ProcessorSeconds() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_max;
}

bool SaysExhausted(const std::string& text) {
  constexpr auto kSayings = std::to_array<std::string_view>(
      {"Cannot allocate memory", kNoProcess, kNoFile, "cannot allocate",
       "cannot create", "failed to map segment", "no more memory", "no memory",
       "out of memory", "bad_alloc"});
  return std::any_of(kSayings.begin(), kSayings.end(),
                     [&](std::string_view saying) {
                       return text.find(saying) != std::string::npos;
                     });
}

std::string RaiseTheLimits(const std::string& low_limits) {
  return "Bulkhead's processes have the limits that the application was "
         "started with: " +
         low_limits + "; raise them there and start the application again";
}

Status NamingLimits(const Status& failure) {
  const std::string& message = failure.message();
  const auto has = [&](std::string_view words) {
    return message.find(words) != std::string::npos;
  };
  if (failure.ok() || !SaysExhausted(message) || has("(ulimit -")) {
    return failure;
  }
  // One of Bulkhead's own limits, and the message says what to do.
  if (has("(--limit ") && !has("(--limit worker-bytes")) return failure;
  std::string advice;
  if (const std::string low = LowLimits(); !low.empty()) {
    advice = RaiseTheLimits(low);
  } else if (has(kNoProcess)) {
    advice =
        "there may be no more processes and threads: raise the limit of the "
        "user (ulimit -u) or of the container or cgroup (pids.max), or end "
        "some";
  } else if (has(kNoFile)) {
    advice = "raise the limit on open files (ulimit -n) or close some";
  } else {
    return failure;
  }
  advice = message + "; " + advice;
  return failure.exit_report()
             ? Status(failure.code(), advice, *failure.exit_report())
             : Status(failure.code(), advice);
}

}  // namespace bulkhead
