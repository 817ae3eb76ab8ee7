// SPDX-License-Identifier: Apache-2.0
#include "core/base/application_limits.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "ipc/limit_name.h"

namespace bulkhead {
namespace {

// The limit on a user's processes below which it counts as low. Users commonly
// have hundreds of processes, and backends need a few more. Some systems allow
// as few as sandbox::Limits::tasks by default.
constexpr rlim_t kFewTasks = 256;
// The stack that a decoder's threads need at least. They get stacks of the
// limit's size.
constexpr rlim_t kStackBytes = rlim_t{1} << 20;

// The kernel's messages if the limit on processes or on open files is reached.
constexpr char kNoProcess[] = "Resource temporarily unavailable";
constexpr char kNoFile[] = "Too many open files";

// The value of a limit that bounds a backend: the soft or the hard one.
enum class Value { kSoft, kHard };

// A limit that backends inherit. It is low if its value is less than `enough`.
struct Inherited {
  __rlimit_resource resource;
  Value value;
  rlim_t enough;
  rlim_t unit;
  const char* words;
};

}  // namespace

std::string LowLimits() {
  // bulkheadd and the launch raise the soft values, except for RLIMIT_DATA, so
  // the other limits count with their hard values.
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

OpenFiles CountOpenFiles() {
  OpenFiles files;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) files.limit = limit.rlim_cur;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  // The descriptor of /proc/self/fd itself is one of the entries. It is not
  // counted, since it is closed again.
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    ++files.open;
  }
  if (files.open > 0) --files.open;
  return files;
}

std::optional<OpenFiles> NearOpenFiles(int newest, uint64_t spare) {
  rlimit limit = {};
  if (newest < 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  const auto is_near = [&](uint64_t open) {
    // Multiplies, since a division would round limits below ten to 0.
    return open * 10 >= limit.rlim_cur * 9 || open + spare > limit.rlim_cur;
  };
  // Counting is slow, so this first finds out whether it is needed. The kernel
  // gives a new descriptor the lowest free number, so at least newest + 1 files
  // are open. More files may be open, with higher numbers, which were opened
  // earlier. If those reach up to the limit, the last number is in use.
  const uint64_t at_least = static_cast<uint64_t>(newest) + 1;
  const int last = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
  if (!is_near(at_least) && ::fcntl(last - 1, F_GETFD) < 0) {
    return std::nullopt;
  }
  OpenFiles files = CountOpenFiles();
  // The count fails without /proc, or if no descriptor is left for the
  // directory.
  if (files.open == 0) files.open = at_least;
  if (!is_near(files.open)) return std::nullopt;
  return files;
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
  // The message is about one of Bulkhead's own limits and says what to do.
  if (has(ipc::kLimitMark) && !has("(--limit worker-bytes")) return failure;
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
