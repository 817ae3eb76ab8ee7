// SPDX-License-Identifier: Apache-2.0
#include "tests/grants/asking_installation.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kInfo[] = "plugins/asking-0.1.0.dist-info/";

}  // namespace

AskingInstallation::AskingInstallation() {
  // Short, since the length of the backend's report is limited.
  char path[] = "/tmp/asking-XXXXXX";
  if (mkdtemp(path) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = fs::canonical(path);
  fs::permissions(path_, fs::perms(0755));
  CopyForAll(DistributionDirectory(), plugins());
  std::ifstream record(path_ + "/" + kInfo + "RECORD");
  for (std::string line; std::getline(record, line);) {
    const size_t name = line.find(".so,");
    if (name == std::string::npos) continue;
    hash_ = line.substr(name + 4, line.rfind(',') - name - 4);
  }
  std::ofstream(path_ + "/" + kInfo + "RECORD", std::ios::app)
      << "asking/attempts.txt,,\n";
  Ask("", "");
}

AskingInstallation::~AskingInstallation() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void AskingInstallation::Ask(const std::string& permissions,
                             const std::string& attempts) const {
  Write(std::string(kInfo) + "bulkhead.toml",
        "schema_version = 1\nabi = 1\ndevices = [\"asking\"]\n[permissions]\n" +
            permissions);
  Write("plugins/asking/attempts.txt", attempts);
}

void AskingInstallation::Grant(const std::string& lines) const {
  Grant(lines, hash_);
}

void AskingInstallation::Grant(const std::string& lines,
                               const std::string& hash) const {
  Write("grants.toml",
        "[[grant]]\nbackend = \"asking\"\nhash = \"" + hash + "\"\n" + lines);
  chmod(grants().c_str(), 0600);
}

void AskingInstallation::Write(const std::string& below,
                               const std::string& text) const {
  const fs::path file = fs::path(path_) / below;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace bulkhead::tests
