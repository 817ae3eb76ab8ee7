// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_paths.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

std::string Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

// Returns the real path of the word in the variable `name` that ends in
// `suffix`, or an empty path.
fs::path FindWord(const char* name, const std::string& suffix) {
  std::istringstream words(Variable(name));
  for (std::string word; words >> word;) {
    if (!word.ends_with(suffix)) continue;
    std::error_code error;
    const fs::path path = fs::canonical(word, error);
    if (!error) return path;
    std::fprintf(stderr, "%s: %s\n", word.c_str(), error.message().c_str());
  }
  return fs::path();
}

}  // namespace

std::string LibexecDirectory() {
  if (const std::string chosen = Variable("BULKHEAD_TEST_LIBEXEC_DIR");
      !chosen.empty()) {
    return chosen;
  }
  return FindWord("BULKHEAD_TEST_LIBEXEC", "/bulkheadd").parent_path();
}

std::string DistributionDirectory(const std::string& variable) {
  if (const std::string chosen = Variable(variable + "_DIR"); !chosen.empty()) {
    return chosen;
  }
  return FindWord(variable.c_str(), ".dist-info/RECORD")
      .parent_path()
      .parent_path();
}

std::string PathFromEnvironment(const char* name) { return FindWord(name, ""); }

void CopyForAll(const std::string& from, const std::string& to) {
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::permissions(to, fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(to)) {
    fs::permissions(entry.path(), fs::perms(0755));
  }
}

std::string GrantsOfReservedNames() {
  const std::string path = TemporaryDirectory() + "/reserved_names.toml";
  std::ofstream grants(path);
  for (const char* name : {"cpu", "openreg"}) {
    grants << "[[grant]]\nbackend = \"" << name
           << "\"\nany_hash = true\nreserved_name = true\n";
  }
  grants.close();
  // A file that others may write would grant nothing.
  fs::permissions(path, fs::perms(0600));
  return path;
}

std::string TemporaryDirectory() {
  const std::string given = Variable("TEST_TMPDIR");
  return given.empty() ? fs::temp_directory_path().string() : given;
}

}  // namespace bulkhead::tests
