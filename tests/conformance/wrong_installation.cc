// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/wrong_installation.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {

namespace fs = std::filesystem;

std::string InstallWrong(const std::string& wrong) {
  std::string path = wrong;
  std::replace(path.begin(), path.end(), ' ', '+');
  path = TemporaryDirectory() + "/" + path;
  fs::remove_all(path);
  CopyForAll(DistributionDirectory(), path);
  const std::string name = path + "/bulkhead_wrong/wrong";
  std::ofstream(name) << wrong;
  fs::permissions(name, fs::perms(0644));
  std::ofstream(path + "/bulkhead_wrong-0.1.0.dist-info/RECORD", std::ios::app)
      << "bulkhead_wrong/wrong,,\n";
  return path;
}

}  // namespace bulkhead::tests
