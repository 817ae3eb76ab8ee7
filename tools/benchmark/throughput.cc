// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/throughput.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/pipe_reader.h"
#include "tools/cli/writers/null_writer.h"
#include "tools/cli/writers/picture.h"

namespace bulkhead::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

struct Pass {
  uint64_t frames = 0;
  uint64_t sum = 0;  // The sum over all pixels.
  double seconds = 0;

  double rate() const { return static_cast<double>(frames) / seconds; }
};

// Reads every byte of every frame and measures the time since its construction.
class Consumer {
 public:
  void Take(const cli::Picture& picture) {
    (void)reader_.Write(picture);
    ++frames_;
  }
  Pass Finish() const {
    return {frames_, reader_.sum(),
            std::chrono::duration<double>(Clock::now() - start_).count()};
  }

 private:
  const Clock::time_point start_ = Clock::now();
  cli::NullWriter reader_;
  uint64_t frames_ = 0;
};

template <typename Source>
Result<Pass> Drain(Source& source, Consumer& consumer) {
  while (true) {
    Result<bool> next = source.Next();
    if (!next) return next.error();
    if (!*next) return consumer.Finish();
    consumer.Take(source.picture());
  }
}

Result<Pass> InProcess(const std::string& clip) {
  Consumer consumer;
  Result<std::unique_ptr<InProcessDecoder>> decoder =
      InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  return Drain(**decoder, consumer);
}

struct Size {
  uint32_t width = 0;
  uint32_t height = 0;
};

Result<Pass> Bulkhead(Host& host, const std::string& clip, Size& size) {
  Consumer consumer;
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  size = {video->metadata().width, video->metadata().height};
  while (true) {
    Result<std::optional<Frame>> frame = video->Next();
    if (!frame) return frame.error();
    if (!*frame) return consumer.Finish();
    consumer.Take(cli::PictureOf(**frame));
  }
}

Result<Pass> Pipe(const std::string& clip, Size size) {
  Consumer consumer;
  Result<std::unique_ptr<PipeReader>> reader =
      PipeReader::Start(clip, size.width, size.height);
  if (!reader) return reader.error();
  return Drain(**reader, consumer);
}

bool SamePixels(const Pass& a, const Pass& b) {
  return a.frames == b.frames && a.sum == b.sum;
}

}  // namespace

Result<Throughput> MeasureThroughput(Host& host, const std::string& clip,
                                     int rounds) {
  Throughput measured;
  for (int round = -1; round < rounds; ++round) {
    Size size;
    Result<Pass> a = InProcess(clip);
    if (!a) return a.error();
    Result<Pass> b = Bulkhead(host, clip, size);
    if (!b) return b.error();
    Result<Pass> c = Pipe(clip, size);
    if (!c) return c.error();
    if (!SamePixels(*a, *b) || !SamePixels(*a, *c)) {
      return Status(
          Code::kInternal,
          fmt::format("the pixels differ: in process {} frames, sum {:x}; "
                      "Bulkhead {}, {:x}; pipe {}, {:x}",
                      a->frames, a->sum, b->frames, b->sum, c->frames, c->sum));
    }
    if (round < 0) continue;
    measured.frames = a->frames;
    measured.in_process.values.push_back(a->rate());
    measured.bulkhead.values.push_back(b->rate());
    measured.pipe.values.push_back(c->rate());
  }
  return measured;
}

}  // namespace bulkhead::benchmark
