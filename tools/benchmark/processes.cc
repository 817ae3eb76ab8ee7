// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/processes.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

namespace bulkhead::benchmark {
namespace {

namespace fs = std::filesystem;

// Returns the number in the first line that begins with `name`, such as "Pss:
// 1234 kB". Returns nullopt, and sets errno, if the file cannot be read or has
// no such line.
std::optional<double> KilobytesIn(const std::string& file,
                                  const std::string& name) {
  errno = 0;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    return std::strtod(line.c_str() + name.size(), nullptr);
  }
  return std::nullopt;
}

pid_t ParentOf(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(line.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

}  // namespace

std::vector<pid_t> FamilyOf(pid_t process) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto parsed =
        std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) {
      continue;
    }
    children.emplace(ParentOf(pid), pid);
  }
  std::vector<pid_t> family = {process};
  for (size_t i = 0; i < family.size(); ++i) {
    const auto [begin, end] = children.equal_range(family[i]);
    for (auto child = begin; child != end; ++child) {
      family.push_back(child->second);
    }
  }
  return family;
}

Result<double> PssMegabytes(const std::vector<pid_t>& processes) {
  double kilobytes = 0;
  for (const pid_t process : processes) {
    const std::string directory = fmt::format("/proc/{}", process);
    const std::optional<double> pss =
        KilobytesIn(directory + "/smaps_rollup", "Pss:");
    if (!pss && (errno == EACCES || errno == EPERM)) {
      return Status(Code::kUnsupported,
                    fmt::format("cannot read {}/smaps_rollup; run it as root",
                                directory));
    }
    kilobytes += pss.value_or(0);
  }
  return kilobytes * 1024 / 1e6;
}

std::vector<pid_t> ProcessesOf(const Host& host) {
  std::vector<pid_t> all = FamilyOf(getpid());
  const std::vector<pid_t> theirs = FamilyOf(host.supervisor_pid());
  all.insert(all.end(), theirs.begin(), theirs.end());
  return all;
}

Result<double> MegabytesOf(const Host& host) {
  malloc_trim(0);
  return PssMegabytes(ProcessesOf(host));
}

Status AwaitAtMost(const Host& host, size_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (ProcessesOf(host).size() > count) {
    if (std::chrono::steady_clock::now() > end) {
      return Status(Code::kInternal, "workers of closed sessions do not end");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status();
}

int OpenDescriptors() {
  int count = -1;  // Leaves out the descriptor of the directory itself.
  std::error_code error;
  for ([[maybe_unused]] const fs::directory_entry& entry :
       fs::directory_iterator("/proc/self/fd", error)) {
    ++count;
  }
  return count;
}

double AvailableMegabytes() {
  return KilobytesIn("/proc/meminfo", "MemAvailable:").value_or(0) * 1024 / 1e6;
}

}  // namespace bulkhead::benchmark
