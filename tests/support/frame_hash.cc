// SPDX-License-Identifier: Apache-2.0
#include "tests/support/frame_hash.h"

#include "tests/support/ffmpeg_hash.h"

namespace bulkhead::tests {

std::string HashOf(const Frame& frame) {
  FfmpegHash hash;
  for (const Plane& plane : frame.planes()) {
    for (uint32_t y = 0; y < plane.height; ++y) hash.Add(plane.row(y));
  }
  return hash.Hex();
}

std::string HashOf(std::span<const std::byte> packed) {
  FfmpegHash hash;
  hash.Add(packed);
  return hash.Hex();
}

std::vector<std::string> HashesOfRest(VideoDecoder& video) {
  std::vector<std::string> hashes;
  while (const auto frame = video.Next().value()) {
    hashes.push_back(HashOf(*frame));
  }
  return hashes;
}

std::vector<std::string> HashesOrError(Host& host, const std::string& path,
                                       const VideoOptions& options,
                                       size_t most) {
  std::vector<std::string> found;
  auto video = host.OpenVideo(path, options);
  if (!video) return {CodeName(video.error().code())};
  while (found.size() < most) {
    const auto frame = video->Next();
    if (!frame) found.push_back(CodeName(frame.error().code()));
    if (!frame || !*frame) break;
    found.push_back(HashOf(**frame));
  }
  return found;
}

}  // namespace bulkhead::tests
