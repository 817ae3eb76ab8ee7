// SPDX-License-Identifier: Apache-2.0
#include "tests/start/layout_installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

}  // namespace

LayoutInstallation::LayoutInstallation(const std::string& manifest) {
  char path[] = "/tmp/layout-XXXXXX";
  EXPECT_NE(::mkdtemp(path), nullptr);
  path_ = fs::canonical(path);
  fs::permissions(path_, fs::perms(0755));
  CopyForAll(DistributionDirectory(), path_ + "/plugins");
  fs::create_directory(path_ + "/plugins/given");
  const std::string permissions = "read = [\"" + path_ + "/plugins/given\"]\n";
  std::ofstream(
      path_ + "/plugins/bulkhead_layout-0.1.0.dist-info/bulkhead.toml",
      std::ios::app)
      << manifest << "[permissions]\n"
      << permissions;
  std::ofstream(path_ + "/grants.toml")
      << "[[grant]]\nbackend = \"layout\"\nany_hash = true\n"
      << permissions;
  fs::permissions(path_ + "/grants.toml", fs::perms(0644));
  OrderAtLoad("");
}

LayoutInstallation::~LayoutInstallation() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void LayoutInstallation::OrderAtLoad(const std::string& order) const {
  std::ofstream(path_ + "/plugins/given/load") << order;
}

void LayoutInstallation::ReplaceObject() const {
  const std::string object = path_ + "/plugins/layout/liblayout.so";
  fs::copy_file(object, object + ".new");
  fs::rename(object + ".new", object);
}

HostOptions LayoutInstallation::options() const {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_path = {path_ + "/plugins"};
  options.autoload = true;
  options.grants = path_ + "/grants.toml";
  options.state_directory = path_ + "/state";
  return options;
}

Layout ReportOf(Host& host, const std::string& clip) {
  const auto refused = host.OpenVideo(
      clip, {.device = "layout", .backend_options = {{"report", "1"}}});
  EXPECT_FALSE(refused);
  if (refused) return {};
  const std::string& message = refused.error().message();
  const size_t report = message.find("report ");
  EXPECT_NE(report, std::string::npos) << message;
  Layout layout;
  std::istringstream words(message.substr(std::min(report, message.size())));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    layout[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return layout;
}

}  // namespace bulkhead::tests
