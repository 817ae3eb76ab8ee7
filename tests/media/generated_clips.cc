// SPDX-License-Identifier: Apache-2.0
#include "tests/media/generated_clips.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

struct Recipe {
  const char* file;
  std::vector<std::string> arguments;  // between the source and the file
  const char* source;
};

Recipe RecipeOf(Clip clip) {
  switch (clip) {
    case Clip::kH264:
      return {"h264.mp4",
              {"-c:v", "libx264", "-preset", "fast", "-g", "24", "-bf", "3",
               "-pix_fmt", "yuv420p"},
              "testsrc2=size=320x240:rate=25:duration=4.8"};
    case Clip::kVp9:
      return {"vp9.webm",
              {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
               "-g", "16"},
              "testsrc2=size=320x240:rate=24:duration=2"};
    case Clip::kMpeg2:
      return {
          "mpeg2.ts",
          {"-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"},
          "testsrc2=size=320x240:rate=24:duration=2"};
    case Clip::kOddSize:
      return {"odd.webm",
              {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
               "-pix_fmt", "yuv420p"},
              "testsrc=size=175x143:rate=30:duration=1"};
    case Clip::kRotated:
      return {"rotated.mp4",
              {"-c", "copy", "-metadata:s:v:0", "rotate=90"},
              nullptr};
    case Clip::kPng:
      return {"png.mkv",
              {"-c:v", "png", "-pix_fmt", "rgb24"},
              "testsrc2=size=160x120:rate=20:duration=1"};
  }
  return {};
}

Status OutputOfFfmpeg(const std::vector<std::string>& arguments,
                      std::string* output) {
  const ProgramResult result = RunFfmpeg(arguments);
  if (!result.started) {
    return Status(Code::kNotFound, "there is no ffmpeg on this machine");
  }
  *output = result.output;
  if (result.exit_code != 0) {
    return Status(Code::kInternal, "ffmpeg failed: " + result.Describe());
  }
  return Status();
}

}  // namespace

std::vector<Clip> AllClips() {
  return {Clip::kH264,    Clip::kVp9,     Clip::kMpeg2,
          Clip::kOddSize, Clip::kRotated, Clip::kPng};
}

const char* ClipName(Clip clip) {
  switch (clip) {
    case Clip::kH264:
      return "H264";
    case Clip::kVp9:
      return "Vp9";
    case Clip::kMpeg2:
      return "Mpeg2";
    case Clip::kOddSize:
      return "OddSize";
    case Clip::kRotated:
      return "Rotated";
    case Clip::kPng:
      return "Png";
  }
  return "unknown";
}

Result<std::string> Generate(Clip clip) {
  const Recipe recipe = RecipeOf(clip);
  const std::string path = TemporaryDirectory() + "/" + recipe.file;
  if (fs::exists(path)) return path;
  std::vector<std::string> arguments;
  if (recipe.source == nullptr) {
    Result<std::string> upright = Generate(Clip::kH264);
    if (!upright) return upright;
    arguments.insert(arguments.end(), {"-i", *upright});
  } else {
    arguments.insert(arguments.end(), {"-f", "lavfi", "-i", recipe.source});
  }
  arguments.insert(arguments.end(), recipe.arguments.begin(),
                   recipe.arguments.end());
  arguments.insert(arguments.end(), {"-threads", "1", path});
  std::string ignored;
  Status status = OutputOfFfmpeg(arguments, &ignored);
  if (status.ok()) return path;
  std::error_code error;
  fs::remove(path, error);
  return status;
}

namespace {

Result<std::vector<ReferenceFrame>> FramesOfFfmpeg(
    const std::vector<std::string>& arguments) {
  std::string output;
  const Status status = OutputOfFfmpeg(arguments, &output);
  std::vector<ReferenceFrame> frames;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    // stream, dts, pts, duration, bytes, hash
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string field; std::getline(words, field, ',');) {
      fields.push_back(field.substr(field.find_first_not_of(' ')));
    }
    if (fields.size() < 6) {
      return Status(Code::kInternal, "no line of framehash: " + line);
    }
    ReferenceFrame frame{std::strtoull(fields[4].c_str(), nullptr, 10),
                         fields[5]};
    if (std::isdigit(fields[2].back())) {
      frame.pts = std::strtoll(fields[2].c_str(), nullptr, 10);
    }
    frames.push_back(std::move(frame));
  }
  if (frames.empty() && !status.ok()) return status;
  return frames;
}

Result<std::vector<std::string>> HashesIn(
    const Result<std::vector<ReferenceFrame>>& frames) {
  if (!frames) return frames.error();
  std::vector<std::string> hashes;
  for (const ReferenceFrame& frame : *frames) hashes.push_back(frame.hash);
  return hashes;
}

}  // namespace

Result<std::vector<ReferenceFrame>> DecodeWithFfmpeg(const std::string& path,
                                                     uint32_t threads) {
  return FramesOfFfmpeg({"-threads", std::to_string(threads), "-i", path,
                         "-map", "0:v:0", "-pix_fmt", "rgb24", "-fps_mode",
                         "passthrough", "-f", "framehash", "-hash", "murmur3",
                         "-"});
}

Result<std::vector<std::string>> HashesByFfmpeg(const std::string& path,
                                                uint32_t threads) {
  return HashesIn(DecodeWithFfmpeg(path, threads));
}

Result<std::vector<std::string>> NativeHashesByFfmpeg(const std::string& path) {
  return HashesIn(FramesOfFfmpeg({"-threads", "1", "-noautorotate", "-i", path,
                                  "-map", "0:v:0", "-fps_mode", "passthrough",
                                  "-f", "framehash", "-hash", "murmur3", "-"}));
}

}  // namespace bulkhead::tests
