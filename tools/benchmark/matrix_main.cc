// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tools/benchmark/codec_clip.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/decode_pass.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/table.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures how fast clips of H.264, HEVC, VP9 and AV1 at 480p, 1080p and 2160p
are decoded in order, to RGB24 and to the decoder's own planes, with one and with
two threads: by Bulkhead's cpu backend, and by libav in this process. Every byte of every frame is read, opening
counts, and the rounds are interleaved.)";

// One combination of clip and options.
struct Cell {
  Codec codec;
  uint32_t height;
  PassOptions options;
  std::string clip;

  nlohmann::ordered_json keys() const {
    return {{"codec", CodecName(codec)},
            {"height", height},
            {"threads", options.threads},
            {"output",
             options.output == OutputFormat::kNative ? "native" : "RGB24"}};
  }
};

struct ClipLength {
  uint32_t height;
  uint32_t frames;
};

// The lengths for which a clip takes about a second to decode.
constexpr ClipLength kLengths[] = {{480, 300}, {1080, 120}, {2160, 40}};

Result<std::vector<Cell>> Cells(bool quick) {
  std::vector<Cell> cells;
  for (const Codec codec : kCodecs) {
    for (const ClipLength& length : kLengths) {
      if (quick && (codec != Codec::kH264 || length.height != 480)) continue;
      const Result<std::string> clip =
          CachedCodecClip({codec, length.height, quick ? 12 : length.frames});
      if (!clip) return clip.error();
      for (const OutputFormat output :
           {OutputFormat::kRgb, OutputFormat::kNative}) {
        for (const int threads : {1, 2}) {
          cells.push_back({codec, length.height, {threads, output}, *clip});
        }
      }
    }
  }
  return cells;
}

// Decodes the clip once with each decoder, and adds the figures to the row. The
// two must decode the same pixels.
Status MeasureCell(Host& host, const Cell& cell, Row& row) {
  const Result<Pass> ours = DecodeByBulkhead(host, cell.clip, cell.options);
  if (!ours) return ours.error();
  const Result<Pass> anchor = DecodeInProcess(cell.clip, cell.options);
  if (!anchor) return anchor.error();
  if (!ours->HasPixelsOf(*anchor)) {
    return Status(Code::kInternal,
                  fmt::format("the pixels of {} differ: Bulkhead {} frames, "
                              "sum {:x}; in process {}, {:x}",
                              cell.clip, ours->frames, ours->sum,
                              anchor->frames, anchor->sum));
  }
  SeriesOf(row, "Bulkhead").values.push_back(ours->rate());
  SeriesOf(row, "libav in process").values.push_back(anchor->rate());
  SeriesOf(row, "Bulkhead / libav")
      .values.push_back(ours->rate() / anchor->rate());
  return Status();
}

Result<Table> Measure(Host& host, const std::vector<Cell>& cells,
                      const RunOptions& options) {
  Table table{.title = "Decoding in order",
              .rows = {},
              .notes = {"a clip lasts about a second, and opening it counts"}};
  for (int round = options.quick ? 0 : -1; round < RoundsOf(options); ++round) {
    for (const Cell& cell : cells) {
      Row& row = RowOf(table, cell.keys());
      // Round -1 is a warm-up: round 0 drops its figures.
      if (round <= 0) {
        row.series = {{"Bulkhead", "frames/s", {}},
                      {"libav in process", "frames/s", {}},
                      {"Bulkhead / libav", "x", {}}};
      }
      if (Status status = MeasureCell(host, cell, row); !status.ok()) {
        return status;
      }
    }
    cli::Say(fmt::format("round {} of {}", round + 1, RoundsOf(options)));
  }
  return table;
}

int Run(int argc, char** argv) {
  RunOptions options{.rounds = 5};
  std::string libexec;
  cli::Command program("bench --matrix", kPurpose);
  AddRunOptions(program, options);
  AddFigureOptions(program, options);
  AddLibexecOption(program, libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  const Result<std::vector<Cell>> cells = Cells(options.quick);
  if (!cells) return cli::Fail(cells.error());
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(libexec);
  const Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return cli::Fail(host.error());
  const Result<Table> table = Measure(**host, *cells, options);
  if (!table) return cli::Fail(table.error());
  return Publish("matrix", std::array{*table}, options);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
