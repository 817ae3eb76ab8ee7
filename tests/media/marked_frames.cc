// SPDX-License-Identifier: Apache-2.0
#include "tests/media/marked_frames.h"

#include <sstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

ProgramResult Hash(const std::string& path, const std::string& stream,
                   bool upright, OutputFormat format,
                   const ProgramOptions& limits) {
  std::vector<std::string> command = {
      "ffmpeg", "-nostdin",    "-v",         "error",       "-threads",
      "1",      "-err_detect", "ignore_err", "-autorotate", upright ? "1" : "0",
      "-i",     path,          "-map",       stream};
  if (format == OutputFormat::kRgb) {
    command.insert(command.end(), {"-pix_fmt", "rgb24"});
  }
  command.insert(command.end(), {"-fps_mode", "passthrough", "-f", "framehash",
                                 "-hash", "murmur3", "-"});
  return RunProgram(command, limits);
}

}  // namespace

Result<std::vector<MarkedFrame>> DecodeWithMarks(const std::string& path,
                                                 OutputFormat format) {
  ProgramOptions limits;
  limits.limit = std::chrono::minutes(2);
  const ProgramResult marks =
      RunProgram({PathFromEnvironment("BULKHEAD_TEST_MARKS"), path}, limits);
  std::istringstream marked(marks.output);
  int turned_oddly = 0;
  marked >> turned_oddly;
  const bool upright = turned_oddly == 0 && format == OutputFormat::kRgb;
  ProgramResult hashes = Hash(path, "0:V:0", upright, format, limits);
  // The file has no video stream but a cover.
  if (hashes.errors.find("matches no streams") != std::string::npos) {
    hashes = Hash(path, "0:v:0", upright, format, limits);
  }
  if (!hashes.started) {
    return Status(Code::kNotFound, "there is no ffmpeg on this machine");
  }
  std::vector<MarkedFrame> frames;
  std::istringstream lines(hashes.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    MarkedFrame frame{.hash = line.substr(line.rfind(' ') + 1)};
    int mark = 0;
    if (!(marked >> frame.pts >> mark)) {
      return Status(Code::kInternal, "marked_frames saw fewer frames in " +
                                         path + ": " + marks.Describe());
    }
    frame.marked = mark != 0;
    frames.push_back(std::move(frame));
  }
  std::string more;
  if (marked >> more) {
    return Status(Code::kInternal, "marked_frames saw more frames in " + path);
  }
  if (frames.empty()) return Status(Code::kBadInput, hashes.Describe());
  return frames;
}

}  // namespace bulkhead::tests
