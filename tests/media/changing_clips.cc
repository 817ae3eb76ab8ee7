// SPDX-License-Identifier: Apache-2.0
#include "tests/media/changing_clips.h"

#include <filesystem>
#include <fstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr int kRate = 25;

struct Encoding {
  std::string part;  // the extension of a part
  std::string file;
  std::vector<std::string> options;
};

Encoding EncodingOf(ChangingClip clip) {
  switch (clip) {
    case ChangingClip::kH264:
      return {".ts",
              "changing_h264.ts",
              {"-c:v", "libx264", "-preset", "fast", "-bf", "2"}};
    case ChangingClip::kVp9:
      return {
          ".webm",
          "changing_vp9.webm",
          {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"}};
    case ChangingClip::kMpeg2:
      return {".ts", "changing_mpeg2.ts", {"-c:v", "mpeg2video", "-bf", "2"}};
    case ChangingClip::kMjpeg:
      return {".mjpeg", "changing_mjpeg.avi", {"-c:v", "mjpeg"}};
  }
  return {};
}

Status Ffmpeg(const std::vector<std::string>& arguments) {
  const ProgramResult result = RunFfmpeg(arguments);
  if (!result.started) {
    return Status(Code::kNotFound, "there is no ffmpeg on this machine");
  }
  if (result.exit_code == 0) return Status();
  return Status(Code::kInternal, "ffmpeg failed: " + result.Describe());
}

// Joins the packets of all parts.
Status Join(const std::vector<std::string>& parts, const std::string& path) {
  const std::string extension = fs::path(parts[0]).extension();
  if (extension == ".webm") {
    const std::string list = path + ".txt";
    std::ofstream out(list);
    for (const std::string& part : parts) out << "file '" << part << "'\n";
    out.close();
    return Ffmpeg(
        {"-f", "concat", "-safe", "0", "-i", list, "-c", "copy", path});
  }
  std::string all = "concat:";
  for (const std::string& part : parts) all += part + "|";
  all.pop_back();
  std::vector<std::string> arguments = {"-i", all, "-c", "copy", path};
  if (extension == ".mjpeg") {
    arguments.insert(arguments.begin(), {"-r", std::to_string(kRate)});
  }
  return Ffmpeg(arguments);
}

}  // namespace

std::vector<ClipPart> PartsOf(ChangingClip clip) {
  if (clip == ChangingClip::kMjpeg) {
    return {{"320x180", "yuvj420p"},
            {"482x270", "yuvj420p"},
            {"160x90", "yuvj422p"},
            {"160x90", "yuvj444p"},
            {"640x360", "yuvj420p"}};
  }
  const bool changes = clip != ChangingClip::kVp9;
  // MPEG-2 has no 4:4:4 in libavcodec.
  const char* const fourth =
      clip == ChangingClip::kH264 ? "yuv444p" : "yuv420p";
  return {{"320x180", "yuv420p"},
          {"482x270", "yuv420p"},
          {"160x90", changes ? "yuv422p" : "yuv420p"},
          {"160x90", fourth},
          {"640x360", "yuv420p"}};
}

std::vector<ChangingClip> WholeChangingClips() {
  return {ChangingClip::kH264, ChangingClip::kVp9, ChangingClip::kMjpeg};
}

const char* ClipName(ChangingClip clip) {
  switch (clip) {
    case ChangingClip::kH264:
      return "H264";
    case ChangingClip::kVp9:
      return "Vp9";
    case ChangingClip::kMpeg2:
      return "Mpeg2";
    case ChangingClip::kMjpeg:
      return "Mjpeg";
  }
  return "unknown";
}

Result<std::string> Generate(ChangingClip clip) {
  const Encoding encoding = EncodingOf(clip);
  const std::string path = TemporaryDirectory() + "/" + encoding.file;
  if (fs::exists(path)) return path;
  std::vector<std::string> parts;
  for (const ClipPart& part : PartsOf(clip)) {
    const size_t number = parts.size();
    parts.push_back(path + "." + std::to_string(number) + encoding.part);
    std::vector<std::string> arguments = {"-f", "lavfi", "-i",
                                          std::string("testsrc2=size=") +
                                              part.size +
                                              ":rate=" + std::to_string(kRate)};
    arguments.insert(arguments.end(), encoding.options.begin(),
                     encoding.options.end());
    arguments.insert(arguments.end(),
                     {"-pix_fmt", part.pixel_format, "-frames:v",
                      std::to_string(kFramesOfPart), "-g",
                      std::to_string(kFramesOfPart / 2), "-threads", "1"});
    if (encoding.part == ".ts") {
      // The timestamps of the parts follow each other, with room for those that
      // B-frames put before the beginning.
      const double begin =
          static_cast<double>(number * 2 * kFramesOfPart) / kRate;
      arguments.insert(arguments.end(),
                       {"-output_ts_offset", std::to_string(begin), "-muxdelay",
                        "0", "-muxpreload", "0"});
    }
    arguments.push_back(parts.back());
    if (Status made = Ffmpeg(arguments); !made.ok()) return made;
  }
  // Another process never sees half of it.
  const std::string joined = TemporaryDirectory() + "/joined_" + encoding.file;
  if (Status status = Join(parts, joined); !status.ok()) return status;
  fs::rename(joined, path);
  return path;
}

}  // namespace bulkhead::tests
