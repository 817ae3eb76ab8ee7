// SPDX-License-Identifier: Apache-2.0
#include "tests/liars/lying_installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "core/base/picture_md5.h"
#include "tests/support/deadlines.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

LyingInstallation::LyingInstallation(const std::vector<std::string>& names) {
  std::string path = TemporaryDirectory() + "/lying-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  path_ = fs::canonical(path);
  // The sandbox runs under another uid and must be able to read the directory.
  fs::permissions(path_, fs::perms(0755));
  const std::string real = LibexecDirectory();
  for (const char* program : {"/bulkheadd", "/bulkhead-reaper", "/backends"}) {
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
  const fs::path root = path_ + "/plugins";
  const fs::path info = root / (name + "-1.dist-info");
  Write(info / "METADATA",
        "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1\n");
  Write(info / "entry_points.txt",
        "[bulkhead.backends]\n" + name + " = " + name + ".liar:" + name + "\n");
  Write(info / "bulkhead.toml", "schema_version = 1\nabi = 1\ndevices = [\"" +
                                    name +
                                    "\"]\nstreams = [\"video\", \"audio\"]\n");
  Write(Object(name), "never loaded");
}

void LyingInstallation::BringClip(const std::string& name) const {
  // Each byte of the first made-up picture is 0, of the second 1, and so on.
  constexpr int kPictures = 8;
  constexpr size_t kRowBytes = 3 * 64;
  constexpr size_t kRows = 48;
  std::string md5s;
  for (int i = 0; i < kPictures; ++i) {
    const std::vector<std::byte> picture(kRowBytes * kRows, std::byte(i));
    md5s +=
        '"' + PictureMd5(picture.data(), kRows, kRowBytes, kRowBytes) + "\",";
  }
  const std::string info = name + "-1.dist-info";
  const fs::path root = path_ + "/plugins";
  Write(root / info / "clip", "made up");
  Write(root / info / "RECORD", name + "/libliar.so,,\n" + info + "/clip,,\n");
  std::ofstream(root / info / "bulkhead.toml", std::ios::app)
      << "codecs = [\"made-up\"]\n[[health_check]]\nclip = \"clip\"\nmd5 = ["
      << md5s << "]\n";
}

HostOptions LyingInstallation::options() const {
  HostOptions options;
  // Not beside bulkheadd: Bulkhead's own backends are treated better.
  options.plugin_path = {path_ + "/plugins"};
  options.autoload = true;
  options.libexec_dir = path_;
  options.limits.restarts_per_position = 2;
  options.deadlines = PatientDeadlines();
  return options;
}

}  // namespace bulkhead::tests
