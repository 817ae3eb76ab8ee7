// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/demo/sample_clip.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/cli/demo/program.h"

namespace bulkhead::cli::demo {
namespace {

// The time limit for ffmpeg. A clip of 1080p with noise takes a minute on two
// slow cores.
constexpr std::chrono::minutes kLimit{10};

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string name = (parent / "bulkhead-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Status MakeSampleClip(const SampleClip& clip, const std::string& path) {
  std::string source =
      fmt::format("testsrc2=size={}x{}:rate=30", clip.width, clip.height);
  std::vector<std::string> rate;
  if (clip.noise_kbits != 0) {
    source += ",noise=alls=12:allf=t";
    rate = {"-b:v", fmt::format("{}k", clip.noise_kbits)};
  }
  const std::string unfinished = path + ".part";
  std::vector<std::string> arguments = {"ffmpeg", "-v",    "error", "-y",
                                        "-f",     "lavfi", "-i",    source};
  arguments.insert(arguments.end(),
                   {"-frames:v", fmt::format("{}", clip.frames), "-c:v",
                    "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p",
                    "-g", fmt::format("{}", clip.key_interval)});
  arguments.insert(arguments.end(), rate.begin(), rate.end());
  arguments.insert(arguments.end(), {"-f", "mp4", unfinished});
  const Status status = RunProgram(arguments, kLimit);
  std::error_code error;
  if (status.ok()) {
    std::filesystem::rename(unfinished, path, error);
    if (!error) return Status();
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot write {}: {}", path, error.message()));
  }
  std::filesystem::remove(unfinished, error);
  if (status.code() == Code::kNotFound) {
    return Status(Code::kNotFound,
                  "the ffmpeg program, which makes the clip, is not installed; "
                  "on Debian: apt install ffmpeg");
  }
  return status.WithContext("cannot make a clip");
}

}  // namespace bulkhead::cli::demo
