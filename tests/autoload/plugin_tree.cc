// SPDX-License-Identifier: Apache-2.0
#include "tests/autoload/plugin_tree.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

// The shared object of the built distribution, with its entry function and its
// hash in RECORD.
struct Openreg {
  fs::path object;
  std::string symbol;
  std::string hash;
};

fs::path DistInfoIn(const fs::path& directory) {
  for (const fs::path& entry : fs::directory_iterator(directory)) {
    if (entry.extension() == ".dist-info") return entry;
  }
  throw std::runtime_error("no dist-info in " + directory.string());
}

Openreg FindOpenreg() {
  const fs::path directory = DistributionDirectory();
  const fs::path info = DistInfoIn(directory);
  Openreg openreg;
  std::ifstream record(info / "RECORD");
  for (std::string line; std::getline(record, line);) {
    const std::string path = line.substr(0, line.find(','));
    if (!path.ends_with(".so")) continue;
    openreg.object = directory / path;
    const size_t hash = path.size() + 1;
    openreg.hash = line.substr(hash, line.find(',', hash) - hash);
  }
  std::ifstream entry_points(info / "entry_points.txt");
  for (std::string line; std::getline(entry_points, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos) openreg.symbol = line.substr(colon + 1);
  }
  return openreg;
}

}  // namespace

PluginTree::PluginTree() {
  std::string path = TemporaryDirectory() + "/plugins-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = fs::canonical(path);
  // Backends run under other uids and must be able to read the directory.
  fs::permissions(path_, fs::perms(0755));
}

PluginTree::~PluginTree() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void PluginTree::InstallOpenreg(const std::string& name) const {
  const Openreg openreg = FindOpenreg();
  const std::string object = name + "/lib" + name + ".so";
  fs::create_directories(fs::path(Object(name)).parent_path());
  fs::copy_file(openreg.object, Object(name));
  const std::string info = name + "-1.0.dist-info/";
  Write(info + "METADATA",
        "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n");
  Write(info + "bulkhead.toml", "abi = 1\ndevices = [\"openreg\"]\n");
  Write(info + "RECORD", object + "," + openreg.hash + ",\n");
  // Written last: the backend becomes visible with this file.
  Write(info + "entry_points.txt", "[bulkhead.backends]\n" + name + " = " +
                                       name + "." + name + ":" +
                                       openreg.symbol + "\n");
}

void PluginTree::Write(const std::string& below,
                       const std::string& contents) const {
  const fs::path file = fs::path(path_) / below;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << contents;
}

std::string PluginTree::DistInfo(const std::string& name) const {
  return path_ + "/" + name + "-1.0.dist-info";
}

std::string PluginTree::Object(const std::string& name) const {
  return path_ + "/" + name + "/lib" + name + ".so";
}

}  // namespace bulkhead::tests
