// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/throughput.h"

#include <fmt/format.h>

#include "tools/benchmark/decode_pass.h"
#include "tools/benchmark/pipe_reader.h"

namespace bulkhead::benchmark {
namespace {

Result<Pass> Pipe(const std::string& clip, const PictureSize& size) {
  Consumer consumer;
  Result<std::unique_ptr<PipeReader>> reader =
      PipeReader::Start(clip, size.width, size.height);
  if (!reader) return reader.error();
  return Drain(**reader, consumer);
}

}  // namespace

Result<Throughput> MeasureThroughput(Host& host, const std::string& clip,
                                     int rounds) {
  Throughput measured;
  // Round -1 is a warm-up and does not count.
  for (int round = -1; round < rounds; ++round) {
    PictureSize size;
    Result<Pass> a = DecodeInProcess(clip);
    if (!a) return a.error();
    Result<Pass> b = DecodeByBulkhead(host, clip, {}, &size);
    if (!b) return b.error();
    Result<Pass> c = Pipe(clip, size);
    if (!c) return c.error();
    if (!a->HasPixelsOf(*b) || !a->HasPixelsOf(*c)) {
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
