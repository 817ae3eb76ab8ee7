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

Result<std::string> CachedClip(const cli::SampleClip& clip) {
  const std::filesystem::path directory = CacheDirectory() / "bulkhead";
  const std::filesystem::path path =
      directory / fmt::format("bench-{}x{}-{}-{}-{}k.mp4", clip.width,
                              clip.height, clip.frames, clip.key_interval,
                              clip.noise_kbits);
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path.string();
  std::filesystem::create_directories(directory, error);
  cli::Say(fmt::format("making {}", path.string()));
  Status status = cli::MakeSampleClip(clip, path.string());
  if (!status.ok()) return status;
  return path.string();
}

}  // namespace bulkhead::benchmark
