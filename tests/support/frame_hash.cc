// SPDX-License-Identifier: Apache-2.0
#include "tests/support/frame_hash.h"

// Included first, since libmd's header needs its types.
#include <md5.h>
#include <sys/types.h>

namespace bulkhead::tests {
namespace {

class Md5 {
 public:
  Md5() { MD5Init(&context_); }
  void Add(std::span<const std::byte> bytes) {
    MD5Update(&context_, reinterpret_cast<const uint8_t*>(bytes.data()),
              bytes.size());
  }
  std::string Hex() {
    char text[MD5_DIGEST_STRING_LENGTH];
    return MD5End(&context_, text);
  }

 private:
  MD5_CTX context_;
};

}  // namespace

std::string HashOf(const Frame& frame) {
  Md5 md5;
  for (const Plane& plane : frame.planes()) {
    for (uint32_t y = 0; y < plane.height; ++y) md5.Add(plane.row(y));
  }
  return md5.Hex();
}

std::string HashOf(std::span<const std::byte> packed) {
  Md5 md5;
  md5.Add(packed);
  return md5.Hex();
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
