// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/workplace.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kFiles[] = R"(
set -e
make() { ffmpeg -nostdin -y -v error -threads 1 "$@"; }
make -f lavfi -i testsrc2=size=320x240:rate=24:duration=5 \
  -f lavfi -i sine=440:sample_rate=44100:duration=5 \
  -c:v libx264 -g 24 -bf 2 -pix_fmt yuv420p -c:a aac clip.mp4
make -f lavfi -i testsrc=size=160x120:rate=10:duration=2 \
  -c:v libx264 -pix_fmt yuv420p other.mp4
make -i clip.mp4 -map 0:v -c copy -bsf:v noise=amount=200 damaged.mp4
make -f lavfi -i testsrc2=size=48x48:rate=24:duration=1 \
  -c:v libx264 -pix_fmt yuv420p broken.mp4
)";
constexpr char kInstall[] =
    "bulkhead install acme-*.whl --into ~/.local/share/bulkhead";

ProgramResult RunIn(const std::string& directory, const std::string& text) {
  return RunProgram(
      {"bash", "-c", "cd '" + directory + "' && exec 2>&1\n" + text});
}

// Encoding them takes seconds, so they are made once a test program.
const std::string& DirectoryWithClips() {
  static const std::string directory = [] {
    const std::string path = TemporaryDirectory() + "/clips";
    fs::create_directories(path);
    const ProgramResult made = RunIn(path, kFiles);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }();
  return directory;
}

}  // namespace

Workplace::Workplace(const std::string& name)
    : path_(TemporaryDirectory() + "/" + name) {
  // A backend's process has a user of its own, which must reach the files.
  umask(022);
  fs::remove_all(path_);
  for (const char* directory : {"bin", "home", "tools"}) {
    fs::create_directories(path_ + "/" + directory);
  }
  const std::string cli = PathFromEnvironment("BULKHEAD_TEST_CLI");
  fs::create_symlink(cli, path_ + "/bin/bulkhead");
  fs::create_symlink(cli, path_ + "/tools/bulkhead");
  const fs::path wheel = PathFromEnvironment("BULKHEAD_TEST_WHEEL");
  fs::copy_file(wheel, path_ / wheel.filename());

  static const std::string path = getenv("PATH");
  setenv("PATH", (path_ + "/bin:" + path).c_str(), 1);
  setenv("HOME", (path_ + "/home").c_str(), 1);
  setenv("BULKHEAD_STATE_DIR", (path_ + "/state").c_str(), 1);
  setenv("BULKHEAD_LIBEXEC_DIR", LibexecDirectory().c_str(), 1);
  unsetenv("XDG_DATA_HOME");
  unsetenv("XDG_CONFIG_HOME");

  fs::copy(DirectoryWithClips(), path_);
  const ProgramResult installed = Run(kInstall);
  EXPECT_EQ(installed.exit_code, 0) << installed.Describe();
}

ProgramResult Workplace::Run(const std::string& text, int last_status) const {
  return RunIn(path_, "(exit " + std::to_string(last_status) + ")\n" + text);
}

}  // namespace bulkhead::tests
