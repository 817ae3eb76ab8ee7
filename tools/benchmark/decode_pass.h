// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "core/application/writers/null_writer.h"
#include "core/application/writers/picture.h"

namespace bulkhead::benchmark {

// The result of decoding a clip once, in order.
struct Pass {
  uint64_t frames = 0;
  uint64_t sum = 0;    // The sum over all bytes of all pictures.
  double seconds = 0;  // Includes the time to open the clip.

  double rate() const { return static_cast<double>(frames) / seconds; }
  bool HasPixelsOf(const Pass& other) const {
    return frames == other.frames && sum == other.sum;
  }
};

// Takes the pictures of a pass. Reads every byte of each, as a user of the
// frames would, and measures the time since its own construction.
class Consumer {
 public:
  void Take(const writers::Picture& picture) {
    (void)reader_.Write(picture);
    ++frames_;
  }
  Pass Finish() const {
    return {frames_, reader_.sum(),
            std::chrono::duration<double>(Clock::now() - start_).count()};
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Clock::time_point start_ = Clock::now();
  writers::NullWriter reader_;
  uint64_t frames_ = 0;
};

// Passes every picture of `source` to the consumer. Source is a class with
// Next() and picture(), such as InProcessDecoder.
template <typename Source>
Result<Pass> Drain(Source& source, Consumer& consumer) {
  while (true) {
    Result<bool> next = source.Next();
    if (!next) return next.error();
    if (!*next) return consumer.Finish();
    consumer.Take(source.picture());
  }
}

struct PictureSize {
  uint32_t width = 0;
  uint32_t height = 0;
};

struct PassOptions {
  int threads = 1;  // The threads of the decoder.
  OutputFormat output = OutputFormat::kRgb;
};

// Decodes the clip with libav in this process, and reads every byte of the
// pictures.
Result<Pass> DecodeInProcess(const std::string& clip,
                             const PassOptions& options = {});
// Does the same with Bulkhead. Stores the frames' size in `size` if not null.
Result<Pass> DecodeByBulkhead(Host& host, const std::string& clip,
                              const PassOptions& options = {},
                              PictureSize* size = nullptr);

}  // namespace bulkhead::benchmark
