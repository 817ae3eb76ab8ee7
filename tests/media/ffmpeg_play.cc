// SPDX-License-Identifier: Apache-2.0
#include "tests/media/ffmpeg_play.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sstream>
#include <string_view>

#include "tests/audio/audio_files.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

// Parts of the lines that are no complaints.
constexpr std::string_view kHarmless[] = {
    // Conversion, and the output.
    "[swscaler @",
    "[framehash @",
    "[graph ",
    "Guessed Channel Layout",
    "on the fly",
    // Guesses.
    "Estimating duration from bitrate",
    "not enough frames to estimate rate",
    "detected only with low score",
    // B-pictures of MPEG-4 that share a packet with another picture.
    "packed B-frames",
    // Timestamps.
    "Non-monotonous DTS",
    "out of order",
    "invalid dropping",
    "timestamp discontinuity",
};

ProgramResult Play(const std::string& path, const std::string& stream,
                   const std::vector<std::string>& output) {
  std::vector<std::string> words = {"ffmpeg",   "-nostdin", "-v", "warning",
                                    "-threads", "1",        "-i", path,
                                    "-map",     stream};
  words.insert(words.end(), output.begin(), output.end());
  ProgramOptions options;
  options.limit = std::chrono::minutes(2);
  return RunProgram(words, options);
}

bool HasStream(const ProgramResult& result) {
  return result.started &&
         result.errors.find("matches no streams") == std::string::npos;
}

}  // namespace

std::string ComplaintsIn(const std::string& errors) {
  std::string complaints;
  bool harmless = true;  // the line before
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Last message repeated") == std::string::npos) {
      harmless = std::any_of(std::begin(kHarmless), std::end(kHarmless),
                             [&line](std::string_view part) {
                               return line.find(part) != std::string::npos;
                             });
    }
    if (!harmless) complaints += line + "\n";
  }
  return complaints;
}

PlayedPictures PlayPictures(const std::string& path) {
  PlayedPictures played;
  // The second is for a file that has no video stream but a cover.
  for (const char* stream : {"0:V:0", "0:v:0"}) {
    const ProgramResult result =
        Play(path, stream,
             {"-pix_fmt", "rgb24", "-fps_mode", "passthrough", "-f",
              "framehash", "-hash", "murmur3", "-"});
    if (!HasStream(result)) continue;
    played.has_stream = true;
    played.complaints = ComplaintsIn(result.errors);
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      played.hashes.push_back(line.substr(line.rfind(' ') + 1));
    }
    break;
  }
  return played;
}

PlayedSound PlaySound(const std::string& path) {
  PlayedSound played;
  const ProgramResult result = Play(path, "0:a:0", {"-f", "f32le", "-"});
  if (!HasStream(result)) return played;
  played.has_stream = true;
  played.complaints = ComplaintsIn(result.errors);
  played.samples = FloatsIn(result.output);
  return played;
}

}  // namespace bulkhead::tests
