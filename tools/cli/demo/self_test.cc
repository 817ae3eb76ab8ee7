// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/demo/self_test.h"

#include <fmt/format.h>

#include <optional>

#include "core/application/writers/output.h"
#include "tools/cli/demo/sample_clip.h"

namespace bulkhead::cli::demo {
namespace {

constexpr uint32_t kSize = 16;
constexpr std::byte kGrey{128};

// Writes the picture as YUV4MPEG2, which needs no encoder: a line of text, then
// the planes.
Status WriteTestPicture(const std::string& path) {
  Result<std::unique_ptr<writers::Output>> output = writers::Output::Open(path);
  if (!output) return output.error();
  const std::vector<std::byte> planes(kSize * kSize * 3 / 2, kGrey);
  Status status = (*output)->Write(fmt::format(
      "YUV4MPEG2 W{0} H{0} F25:1 Ip A1:1 C420jpeg\nFRAME\n", kSize));
  if (status.ok()) status = (*output)->Write(planes);
  if (status.ok()) status = (*output)->Close();
  return status;
}

}  // namespace

Status DecodeTestPicture(Host& host, const std::string& device) {
  const TemporaryDirectory directory;
  if (directory.path().empty()) {
    return Status(Code::kInvalidArgument,
                  "cannot make a temporary directory; is TMPDIR writable?");
  }
  const std::string path = directory.path() + "/picture.y4m";
  if (Status status = WriteTestPicture(path); !status.ok()) return status;
  VideoOptions options;
  options.device = device;
  Result<VideoDecoder> video = host.OpenVideo(path, options);
  if (!video) return video.error();
  Result<std::optional<Frame>> frame = video->Next();
  if (!frame) return frame.error();
  if (!*frame || (*frame)->width() != kSize || (*frame)->height() != kSize) {
    return Status(Code::kInternal, "the test picture came out wrong");
  }
  return Status();
}

}  // namespace bulkhead::cli::demo
