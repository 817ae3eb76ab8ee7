// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/own_clip.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

namespace fs = std::filesystem;

ClipOfABackend MakeOwnClip() {
  const std::string path = TemporaryDirectory() + "/own.mkv";
  const std::string list = path + ".framemd5";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=size=80x48:rate=10",
                 "-frames:v", "8", "-c:v", "libx264", "-bf", "2", "-pix_fmt",
                 "yuv420p", path})
          .exit_code != 0) {
    [] { GTEST_SKIP() << "no ffmpeg with libx264 on this machine"; }();
    return {};
  }
  EXPECT_EQ(
      RunFfmpeg({"-threads", "1", "-i", path, "-map", "0:v:0", "-fps_mode",
                 "passthrough", "-pix_fmt", "rgb24", "-f", "framemd5", list})
          .exit_code,
      0);
  ClipOfABackend clip{.path = path, .md5s = {}};
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    clip.md5s.push_back(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_EQ(clip.md5s.size(), 8u);
  return clip;
}

void BringClip(const std::string& installation, const ClipOfABackend& clip) {
  const std::string copy = DistInfo(installation) + "/own.mkv";
  fs::copy_file(clip.path, copy, fs::copy_options::overwrite_existing);
  fs::permissions(copy, fs::perms(0644));
  AddToRecord(installation, std::string(kDistInfoName) + "/own.mkv,,\n");
  std::string lines = "[[health_check]]\nclip = \"own.mkv\"\nmd5 = [";
  for (const std::string& md5 : clip.md5s) lines += '"' + md5 + "\", ";
  AddToManifest(installation, lines + "]\n");
}

void AddToManifest(const std::string& installation, const std::string& lines) {
  std::ofstream(DistInfo(installation) + "/bulkhead.toml", std::ios::app)
      << lines;
}

void AddToRecord(const std::string& installation, const std::string& lines) {
  std::ofstream(DistInfo(installation) + "/RECORD", std::ios::app) << lines;
}

std::string DistInfo(const std::string& installation) {
  return installation + "/" + kDistInfoName;
}

}  // namespace bulkhead::tests
