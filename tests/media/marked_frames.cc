// SPDX-License-Identifier: Apache-2.0
#include "tests/media/marked_frames.h"

#include <filesystem>
#include <fstream>
#include <istream>
#include <sstream>
#include <utility>

#include "tests/media/ffmpeg_play.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Says how far ffmpeg turns the pictures, as marked_frames_main prints it.
enum class Turn { kNone, kQuarters, kOdd };

ProgramResult Run(const std::vector<std::string>& command) {
  ProgramOptions options;
  options.limit = std::chrono::minutes(2);
  return RunProgram(command, options);
}

ProgramResult RunMarks(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {
      PathFromEnvironment("BULKHEAD_TEST_MARKS")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Run(command);
}

Turn TurnIn(std::istream& output) {
  int turn = 0;
  output >> turn;
  return static_cast<Turn>(turn);
}

// An output of ffmpeg: the frames' hashes, written to a file or to "-".
struct Hashes {
  const char* pixel_format;  // null: the decoder's own
  std::string file;
};

// Writes all outputs with one decode. The messages name corrupt frames.
ProgramResult Hash(const std::string& path, bool turned,
                   const std::vector<Hashes>& outputs) {
  ProgramResult result;
  // The second is for a file that has no video stream but a cover.
  for (const char* stream : {"0:V:0", "0:v:0"}) {
    std::vector<std::string> command = {"ffmpeg",
                                        "-nostdin",
                                        "-v",
                                        "warning",
                                        "-y",
                                        "-threads",
                                        "1",
                                        "-err_detect",
                                        "ignore_err",
                                        "-autorotate",
                                        turned ? "1" : "0",
                                        "-i",
                                        path};
    for (const Hashes& output : outputs) {
      command.insert(command.end(), {"-map", stream});
      if (output.pixel_format != nullptr) {
        command.insert(command.end(), {"-pix_fmt", output.pixel_format});
      }
      command.insert(command.end(),
                     {"-fps_mode", "passthrough", "-f", "framehash", "-hash",
                      "murmur3", output.file});
    }
    result = Run(command);
    if (result.errors.find("matches no streams") == std::string::npos) break;
  }
  return result;
}

std::vector<std::string> HashesIn(std::istream& lines) {
  std::vector<std::string> hashes;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    hashes.push_back(line.substr(line.rfind(' ') + 1));
  }
  return hashes;
}

// Returns kInternal unless there are marks of so many frames.
Result<std::vector<Mark>> MarksIn(std::istream& output, size_t frames,
                                  const std::string& path) {
  std::vector<Mark> marks(frames);
  for (Mark& mark : marks) {
    if (!(output >> mark.pts >> mark.marked)) {
      return Status(Code::kInternal,
                    "marked_frames saw fewer frames in " + path);
    }
  }
  if (std::string more; output >> more) {
    return Status(Code::kInternal, "marked_frames saw more frames in " + path);
  }
  return marks;
}

Status CheckStarted(const ProgramResult& result) {
  if (result.started) return Status();
  return Status(Code::kNotFound, "there is no ffmpeg on this machine");
}

}  // namespace

Result<std::vector<MarkedFrame>> DecodeWithMarks(const std::string& path) {
  std::istringstream output(RunMarks({path}).output);
  const bool turned = TurnIn(output) != Turn::kOdd;
  const ProgramResult result = Hash(path, turned, {{"rgb24", "-"}});
  std::istringstream lines(result.output);
  const std::vector<std::string> hashes = HashesIn(lines);
  if (Status status = CheckStarted(result); !status.ok()) return status;
  const auto marks = MarksIn(output, hashes.size(), path);
  if (!marks) return marks.error();
  if (hashes.empty()) return Status(Code::kBadInput, result.Describe());
  std::vector<MarkedFrame> frames;
  for (size_t i = 0; i < hashes.size(); ++i) {
    frames.push_back({(*marks)[i], hashes[i]});
  }
  return frames;
}

Result<PictureHashes> HashBothForms(const std::string& path) {
  std::istringstream output(RunMarks({path, "turn"}).output);
  const Turn turn = TurnIn(output);
  const Hashes rgb = {"rgb24", "-"};
  const Hashes planes = {nullptr, TemporaryDirectory() + "/planes.framehash"};
  std::filesystem::remove(planes.file);  // of another file
  ProgramResult result;
  if (turn == Turn::kQuarters) {
    result = Hash(path, true, {rgb});
    Hash(path, false, {planes});
  } else {
    result = Hash(path, false, {rgb, planes});
  }
  PictureHashes hashes;
  std::istringstream lines(result.output);
  hashes.rgb = HashesIn(lines);
  std::ifstream file(planes.file);
  hashes.planes = HashesIn(file);
  if (Status status = CheckStarted(result); !status.ok()) return status;
  if (hashes.rgb.empty()) return Status(Code::kBadInput, result.Describe());
  hashes.complaints = ComplaintsIn(result.errors);
  // The program says that there are some, but not which.
  if (result.errors.find("corrupt decoded frame") == std::string::npos) {
    return hashes;
  }
  std::istringstream marked(RunMarks({path}).output);
  TurnIn(marked);
  auto marks = MarksIn(marked, hashes.rgb.size(), path);
  if (!marks) return marks.error();
  hashes.marks = *std::move(marks);
  return hashes;
}

}  // namespace bulkhead::tests
