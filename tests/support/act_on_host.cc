// SPDX-License-Identifier: Apache-2.0
#include "tests/support/act_on_host.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Returns the resources of this process that a session could have left over:
// the targets of its descriptors, and its mappings of memory files.
std::vector<std::string> Held() {
  std::vector<std::string> held;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    // Skips the descriptor of the iterator itself.
    if (!target.ends_with("/fd")) held.push_back("descriptor of " + target);
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t name = line.find("/memfd:");
    if (name != std::string::npos)
      held.push_back("map of " + line.substr(name));
  }
  return held;
}

std::vector<ProcessWatch> ProcessesOf(const Host& host) {
  std::vector<ProcessWatch> processes;
  processes.emplace_back(host.supervisor_pid());
  for (const pid_t pid : DescendantsOf(host.supervisor_pid())) {
    processes.emplace_back(pid);
  }
  return processes;
}

}  // namespace

Status ActOnHost(const HostOptions& options, milliseconds limit,
                 const std::function<Status(Host&)>& act) {
  const size_t before = Held().size();
  Status status;
  std::vector<ProcessWatch> processes;
  {
    auto host = Host::Create(options);
    if (!host) return host.error();
    auto acting = std::async(std::launch::async, [&] { return act(**host); });
    if (acting.wait_for(limit) != std::future_status::ready) {
      ADD_FAILURE() << "did not return within " << limit.count() << " ms";
      // bound: the pause between two kills.
      do {
        ::kill((*host)->supervisor_pid(), SIGKILL);
      } while (acting.wait_for(milliseconds(500)) != std::future_status::ready);
    }
    status = acting.get();
    processes = ProcessesOf(**host);
  }
  for (const pid_t pid : AwaitEndOfAll(processes)) {
    ADD_FAILURE() << "process " << pid << " is left";
  }
  processes.clear();
  const std::vector<std::string> left = Held();
  if (left.size() != before) {
    std::string all;
    for (const std::string& one : left) all += "\n  " + one;
    ADD_FAILURE() << before << " were held before, now:" << all;
  }
  return status;
}

}  // namespace bulkhead::tests
