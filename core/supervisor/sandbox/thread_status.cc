// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/thread_status.h"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/base/pidfd.h"
#include "ipc/worker_exit.h"

namespace bulkhead::sandbox {
namespace {

constexpr int kFilterMode = 2;  // SECCOMP_MODE_FILTER, as /proc shows it.
// The most threads that are checked, which is the default limit of a backend's
// tasks. A process that starts threads faster than they can be checked must not
// keep bulkheadd busy.
constexpr size_t kMaxThreads = 4096;

Status Gone() {
  return Status(Code::kBackendLost, "it ended while its threads were checked");
}

bool IsAlive(int pidfd) {
  pollfd ended = {.fd = pidfd, .events = POLLIN, .revents = 0};
  return poll(&ended, 1, 0) == 0;
}

// Reads the number at the beginning of `words`, after blanks, and removes it
// there. Returns false if there is none, and leaves `number` as it is.
template <typename Number>
bool TakeNumber(std::string_view& words, Number& number, int base = 10) {
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  const auto [end, error] =
      std::from_chars(words.begin(), words.end(), number, base);
  words.remove_prefix(static_cast<size_t>(end - words.begin()));
  return error == std::errc();
}

// Returns what the thread lacks, or an empty string.
std::string Lack(const ThreadStatus& thread, uint32_t filters) {
  if (!thread.filtered) return "is under no seccomp filter";
  if (!thread.no_new_privs) return "may gain privileges (no_new_privs is off)";
  if (thread.filters && *thread.filters < filters) {
    return "is under " + std::to_string(*thread.filters) +
           " seccomp filters of " + std::to_string(filters);
  }
  return "";
}

}  // namespace

std::optional<ThreadStatus> ReadThreadStatus(const std::string& directory) {
  std::ifstream file(directory + "/status");
  ThreadStatus thread;
  // Each start of a worker reads several of these files, of some 60 lines each,
  // so only the wanted lines are parsed.
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, colon);
    std::string_view words = std::string_view(line).substr(colon + 1);
    if (key == "State") {
      words.remove_prefix(
          std::min(words.find_first_not_of('\t'), words.size()));
      thread.dead = words.starts_with('Z') || words.starts_with('X');
    } else if (key == "Tgid") {
      TakeNumber(words, thread.process);
      thread.inner_process = thread.process;
    } else if (key == "NStgid") {
      while (TakeNumber(words, thread.inner_process)) {
      }
    } else if (key == "PPid") {
      TakeNumber(words, thread.parent);
    } else if (key == "Threads") {
      TakeNumber(words, thread.threads);
    } else if (key == "SigCgt") {
      TakeNumber(words, thread.handled, 16);
    } else if (key == "SigBlk") {
      TakeNumber(words, thread.blocked, 16);
    } else if (key == "NoNewPrivs") {
      int set = 0;
      TakeNumber(words, set);
      thread.no_new_privs = set != 0;
    } else if (key == "Seccomp") {
      int mode = 0;
      TakeNumber(words, mode);
      thread.filtered = mode == kFilterMode;
    } else if (key == "Seccomp_filters") {
      TakeNumber(words, thread.filters.emplace());
    }
  }
  if (thread.process == 0) return std::nullopt;
  return thread;
}

uint64_t CountThreads(int pidfd) {
  const pid_t pid = PidOf(pidfd);
  if (pid <= 0) return 0;
  const auto process = ReadThreadStatus("/proc/" + std::to_string(pid));
  return process ? static_cast<uint64_t>(process->threads) : 0;
}

uint32_t InheritedFilters() {
  const auto self = ReadThreadStatus("/proc/thread-self");
  return self ? self->filters.value_or(0) : 0;
}

Status CheckEveryThread(int pidfd, uint32_t filters) {
  const pid_t pid = PidOf(pidfd);
  if (pid == 0) {
    if (!IsAlive(pidfd)) return Gone();
    return Status(
        Code::kSandboxUnavailable,
        "its lock-down cannot be checked: /proc does not show the process");
  }
  const uint32_t wanted = InheritedFilters() + filters;
  size_t listed = 0;
  size_t seen = 0;
  std::string lack;
  std::error_code error;
  std::filesystem::directory_iterator threads(
      "/proc/" + std::to_string(pid) + "/task", error);
  for (; !error && threads != std::filesystem::directory_iterator();
       threads.increment(error)) {
    const auto thread = ReadThreadStatus(threads->path().string());
    if (++listed > kMaxThreads) {
      lack = "is one of more than " + std::to_string(kMaxThreads) + " threads";
    } else if (!thread || thread->dead) {
      continue;  // It ended after it was listed.
    } else {
      ++seen;
      lack = Lack(*thread, wanted);
    }
    if (!lack.empty()) {
      lack = "its thread " + threads->path().filename().string() + " " + lack;
      break;
    }
  }
  // While the process lives, no other process can have its pid. So if it is
  // still alive, the threads above were its own.
  if (!IsAlive(pidfd)) return Gone();
  if (error || seen == 0) {
    lack = "its threads cannot be listed in /proc";
  }
  if (lack.empty()) return Status();
  return Status(Code::kSandboxUnavailable,
                lack + "; it was ended before it saw any media");
}

Status CheckSignals(int pidfd) {
  uint64_t faults = 0;
  for (const int signal : ipc::kFaults) faults |= uint64_t{1} << (signal - 1);
  const auto worker = ReadThreadStatus("/proc/" + std::to_string(PidOf(pidfd)));
  if (!IsAlive(pidfd)) return Gone();
  if (worker && worker->handled == faults && worker->blocked == 0) {
    return Status();
  }
  return Status(Code::kSandboxUnavailable,
                "it handles other signals than those of faults, or blocks "
                "some; it was ended before it saw any media");
}

}  // namespace bulkhead::sandbox
