// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "core/application/writers/contact_sheet.h"
#include "core/application/writers/picture.h"
#include "core/application/writers/png_writer.h"
#include "core/base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/decode/input.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::decode {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead sheet clip.mp4 -o sheet.png
  bulkhead sheet clip.mp4 -o sheet.png --columns 6 --rows 10 --width 320
  curl -s URL | bulkhead sheet - -o sheet.png

The duration of the file is divided by the number of cells; each cell shows the
frame in the middle of its part, and the time at which that frame begins. If the
frames of a file have no timestamps, the number of frames is divided instead, and
each cell shows the number of its frame. The nearest intact frame replaces a
damaged one.)";

constexpr uint64_t kMostPixels = 100'000'000;
constexpr writers::ContactSheet::Color kBorder{0x50, 0x50, 0x50};

struct SheetOptions {
  std::string file;
  std::string output;
  VideoOptions video;
  uint32_t columns = 4;
  uint32_t rows = 4;
  uint32_t width = 240;
};

// Returns "1:02:03.45", or "2:03.45" for less than an hour.
std::string TimeText(double seconds) {
  const auto hundredths = std::llround(std::max(0.0, seconds) * 100);
  const auto whole = hundredths / 100;
  if (whole < 3600) {
    return fmt::format("{}:{:02}.{:02}", whole / 60, whole % 60,
                       hundredths % 100);
  }
  return fmt::format("{}:{:02}:{:02}.{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60, hundredths % 100);
}

// Returns the frame at the fraction `part` (from 0 to 1) of the video. This is
// a fraction of the time span `played` or, without `played`, of the number of
// frames.
Result<Frame> FrameIn(VideoDecoder& video,
                      const std::optional<SecondsRange>& played, double part) {
  if (played) {
    return video.FramePlayedAt(played->begin +
                               part * (played->end - played->begin));
  }
  ASSIGN_OR_RETURN(const uint64_t count, video.FrameCount());
  return video.FrameAt(static_cast<int64_t>(part * static_cast<double>(count)));
}

// Draws the sheet and writes it to the output. The cells divide the duration
// or, if timestamps are missing or not unique, the number of frames.
Status Draw(VideoDecoder& video, const SheetOptions& options) {
  ASSIGN_OR_RETURN(const Frame first, video.FrameAt(0));
  std::optional<SecondsRange> times;
  if (Result<SecondsRange> played = video.PlayedRange()) {
    times = *played;
    // kBadInput means that the timestamps cannot be used.
  } else if (played.error().code() != Code::kBadInput) {
    return played.error();
  }
  const uint32_t cells = options.columns * options.rows;
  const uint64_t drawn = uint64_t{cells} * options.width * options.width *
                         first.height() / first.width();
  if (drawn > kMostPixels) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a sheet of {} million pixels is too large; ask "
                              "for fewer or narrower cells",
                              drawn / 1'000'000));
  }
  writers::ContactSheet sheet(cells, options.columns, options.width,
                              first.width(), first.height());
  for (uint32_t cell = 0; cell < cells; ++cell) {
    ASSIGN_OR_RETURN(const Frame frame,
                     FrameIn(video, times, (cell + 0.5) / cells));
    sheet.Place(cell, writers::PictureOf(frame), kBorder);
    sheet.Caption(cell, times ? TimeText(frame.pts_seconds())
                              : std::to_string(frame.index()));
  }
  return writers::WritePngFile(sheet.picture(), options.output);
}

int RunSheet(const GlobalOptions& global, const SheetOptions& options) {
  const std::string suffix =
      std::filesystem::path(options.output).extension().string();
  if (!suffix.empty() && suffix != ".png") {
    return Fail(Status(Code::kInvalidArgument,
                       fmt::format("output '{}': a sheet is a PNG file; let "
                                   "its name end in .png",
                                   options.output)));
  }
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  const Result<Source> source = OpenInput(options.file);
  if (!source) return Fail(source.error());
  Result<VideoDecoder> video = (*host)->OpenVideo(*source, options.video);
  if (!video) return Fail(video.error());
  if (Status status = Draw(*video, options); !status.ok()) return Fail(status);
  return 0;
}

}  // namespace

void AddSheetCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<SheetOptions>(
      program, invocation, "sheet",
      "Draw frames of a file side by side, with their times", kExamples,
      RunSheet);
  options.video.on_corrupt = OnCorrupt::kNearest;
  command.AddOption("FILE", &options.file, "The video file; - is stdin")
      .Required();
  command.AddOption("-o,--output PNG", &options.output, "The PNG file to write")
      .Required();
  command.AddOption("--device D", &options.video.device,
                    "Device to decode on (default cpu)");
  command.AddOption("--stream N", &options.video.stream_index,
                    "Index of the stream (default: the first video stream)");
  for (const auto& [name, value, most, text] :
       {std::tuple{"--columns N", &options.columns, 100, "Cells in a row"},
        std::tuple{"--rows N", &options.rows, 100, "Rows of cells"},
        std::tuple{"--width N", &options.width, 4096, "Pixels of a cell"}}) {
    command.AddOption(name, value, text).ShowDefault().Range(1, most);
  }
}

}  // namespace bulkhead::cli::decode
