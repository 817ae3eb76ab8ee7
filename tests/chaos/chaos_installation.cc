// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/chaos_installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/support/deadlines.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "/bulkhead_chaos/faults";

template <typename Options>
Options OptionsOf(const std::string& faults) {
  Options options{.device = "chaos"};
  if (!faults.empty()) options.backend_options = {{"faults", faults}};
  return options;
}

}  // namespace

ChaosInstallation::ChaosInstallation(const std::string& faults) {
  std::string path = TemporaryDirectory() + "/chaos-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  path_ = fs::canonical(path);
  fs::copy(DistributionDirectory("BULKHEAD_TEST_CHAOS"), path_,
           fs::copy_options::recursive);
  // The sandbox runs under another uid and must be able to read the directory.
  fs::permissions(path_, fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    fs::permissions(entry.path(), fs::perms(0755));
  }
  std::ofstream(path_ + "/bulkhead_chaos-0.1.0.dist-info/RECORD", std::ios::app)
      << kScript + 1 << ",,\n";
  SetFaults(faults);
}

ChaosInstallation::~ChaosInstallation() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ChaosInstallation::SetFaults(const std::string& faults) const {
  std::ofstream(path_ + kScript) << faults;
}

void ChaosInstallation::GrantADevice() { Grant("devices = [\"/dev/null\"]\n"); }

void ChaosInstallation::GrantMemory(uint64_t bytes) {
  Grant("memory_bytes = " + std::to_string(bytes) + "\n");
}

void ChaosInstallation::Grant(const std::string& permission) {
  std::ofstream(path_ + "/bulkhead_chaos-0.1.0.dist-info/bulkhead.toml",
                std::ios::app)
      << "\n[permissions]\n"
      << permission;
  grants_ = path_ + "/grants.toml";
  std::ofstream(grants_) << "[[grant]]\nbackend = \"chaos\"\nany_hash = true\n"
                         << permission;
  fs::permissions(grants_, fs::perms(0644));
}

HostOptions ChaosInstallation::options() const {
  HostOptions options;
  if (!grants_.empty()) options.grants = grants_;
  options.plugin_path = {path_};
  options.autoload = true;
  options.libexec_dir = LibexecDirectory();
  options.limits.restarts_per_position = 3;
  options.deadlines = PatientDeadlines();
  return options;
}

VideoOptions ChaosInstallation::Stream(const std::string& faults) {
  return OptionsOf<VideoOptions>(faults);
}

AudioOptions ChaosInstallation::AudioStream(const std::string& faults) {
  return OptionsOf<AudioOptions>(faults);
}

}  // namespace bulkhead::tests
