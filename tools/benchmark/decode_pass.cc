// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/decode_pass.h"

#include <memory>
#include <optional>

#include "tools/benchmark/in_process_decoder.h"

namespace bulkhead::benchmark {

Result<Pass> DecodeInProcess(const std::string& clip,
                             const PassOptions& options) {
  Consumer consumer;
  Result<std::unique_ptr<InProcessDecoder>> decoder =
      InProcessDecoder::Open(clip, options.threads, options.output);
  if (!decoder) return decoder.error();
  return Drain(**decoder, consumer);
}

Result<Pass> DecodeByBulkhead(Host& host, const std::string& clip,
                              const PassOptions& options, PictureSize* size) {
  Consumer consumer;
  Result<VideoDecoder> video =
      host.OpenVideo(clip, {.threads = static_cast<uint32_t>(options.threads),
                            .output_format = options.output});
  if (!video) return video.error();
  if (size != nullptr) {
    *size = {video->metadata().width, video->metadata().height};
  }
  while (true) {
    Result<std::optional<Frame>> frame = video->Next();
    if (!frame) return frame.error();
    if (!*frame) return consumer.Finish();
    consumer.Take(writers::PictureOf(**frame));
  }
}

}  // namespace bulkhead::benchmark
