// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/cached_clip.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

std::filesystem::path CacheDirectory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) return cache;
  if (const char* home = std::getenv("HOME")) {
    return std::filesystem::path(home) / ".cache";
  }
  return "/tmp";
}

}  // namespace

std::string CachePath(const std::string& name) {
  const std::filesystem::path directory = CacheDirectory() / "bulkhead";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return directory / name;
}

Result<std::string> CachedClip(const cli::demo::SampleClip& clip) {
  const std::string path = CachePath(
      fmt::format("bench-{}x{}-{}-{}-{}k.mp4", clip.width, clip.height,
                  clip.frames, clip.key_interval, clip.noise_kbits));
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  cli::Say(fmt::format("making {}", path));
  Status status = cli::demo::MakeSampleClip(clip, path);
  if (!status.ok()) return status;
  return path;
}

}  // namespace bulkhead::benchmark
