// SPDX-License-Identifier: Apache-2.0
#include "tests/liars/lying_installation.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>

#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kProcessesEnd{5'000};

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::vector<std::string> OpenDescriptors() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    // The iterator's own.
    if (!target.ends_with("/fd")) found.push_back(target);
  }
  return found;
}

std::vector<ProcessWatch> ProcessesOf(Host& host) {
  std::vector<ProcessWatch> processes;
  processes.emplace_back(host.supervisor_pid());
  if (const auto report = host.Backends()) {
    for (const BackendInfo& backend : report->backends) {
      if (backend.reaper_pid > 0) processes.emplace_back(backend.reaper_pid);
      if (backend.zygote_pid > 0) processes.emplace_back(backend.zygote_pid);
      for (const int pid : backend.session_pids) processes.emplace_back(pid);
    }
  }
  return processes;
}

}  // namespace

LyingInstallation::LyingInstallation(const std::vector<std::string>& names) {
  std::string path = TemporaryDirectory() + "/lying-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  path_ = fs::canonical(path);
  // The sandbox takes another uid and must find its way here.
  fs::permissions(path_, fs::perms(0755));
  const std::string real = LibexecDirectory();
  for (const char* program : {"/bulkheadd", "/bulkhead-reaper"}) {
    fs::create_symlink(real + program, path_ + program);
  }
  fs::create_symlink(PathFromEnvironment("LYING_WORKER"),
                     path_ + "/bulkhead-worker");
  for (const std::string& name : names) AddDistribution(name);
  Write(media(), "made up");
}

LyingInstallation::~LyingInstallation() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void LyingInstallation::AddDistribution(const std::string& name) const {
  const fs::path root = path_ + "/backends";
  const fs::path info = root / (name + "-1.dist-info");
  Write(info / "METADATA",
        "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1\n");
  Write(info / "entry_points.txt",
        "[bulkhead.backends]\n" + name + " = " + name + ".liar:" + name + "\n");
  Write(info / "bulkhead.toml",
        "schema_version = 1\nabi = 1\ndevices = [\"" + name + "\"]\n");
  Write(Object(name), "never loaded");
}

HostOptions LyingInstallation::options() const {
  HostOptions options;
  options.plugin_path.emplace();
  options.libexec_dir = path_;
  options.limits.restarts_per_position = 2;
  options.deadlines.backend_start = milliseconds(1'500);
  options.deadlines.worker_start = milliseconds(1'000);
  options.deadlines.open = milliseconds(500);
  options.deadlines.scan = milliseconds(500);
  options.deadlines.frame = milliseconds(500);
  return options;
}

Status ActOnHost(const HostOptions& options, milliseconds limit,
                 const std::function<Status(Host&)>& act) {
  const auto before = OpenDescriptors();
  Status status;
  std::vector<ProcessWatch> processes;
  {
    auto host = Host::Create(options);
    if (!host) return host.error();
    auto acting = std::async(std::launch::async, [&] { return act(**host); });
    if (acting.wait_for(limit) != std::future_status::ready) {
      ADD_FAILURE() << "did not return within " << limit.count() << " ms";
      do {
        ::kill((*host)->supervisor_pid(), SIGKILL);
      } while (acting.wait_for(milliseconds(500)) != std::future_status::ready);
    }
    status = acting.get();
    processes = ProcessesOf(**host);
  }
  for (const pid_t pid : AwaitEndOfAll(processes, kProcessesEnd)) {
    ADD_FAILURE() << "process " << pid << " is left";
  }
  processes.clear();
  EXPECT_EQ(OpenDescriptors().size(), before.size());
  return status;
}

}  // namespace bulkhead::tests
