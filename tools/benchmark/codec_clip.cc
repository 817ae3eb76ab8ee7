// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/codec_clip.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/benchmark/cached_clip.h"
#include "tools/cli/demo/program.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr std::chrono::minutes kLimit{10};

struct Encoder {
  const char* name;
  const char* file_name;
  std::vector<std::string> arguments;
  // The bit rate as a multiple of the bit rate for H.264.
  double rate;
  // The encoder needs -maxrate, without which a short clip exceeds its rate.
  bool bounded = false;
};

Encoder EncoderOf(Codec codec) {
  switch (codec) {
    case Codec::kH264:
      return {"H.264", "h264", {"libx264", "-preset", "ultrafast"}, 1, true};
    case Codec::kHevc:
      return {
          "HEVC",
          "hevc",
          {"libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"},
          0.6,
          true};
    case Codec::kVp9:
      return {"VP9",
              "vp9",
              {"libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
               "-row-mt", "1"},
              0.6};
    case Codec::kAv1:
      return {"AV1", "av1", {"libsvtav1", "-preset", "12"}, 0.5};
  }
  return {};
}

struct Size {
  uint32_t width;
  double kbits;  // The bit rate of H.264.
};

Size SizeOf(uint32_t height) {
  if (height <= 480) return {854, 4'000};
  if (height <= 1080) return {1920, 19'000};
  return {3840, 60'000};
}

}  // namespace

const char* CodecName(Codec codec) { return EncoderOf(codec).name; }

Result<std::string> CachedCodecClip(const CodecClip& clip) {
  const Encoder encoder = EncoderOf(clip.codec);
  const Size size = SizeOf(clip.height);
  const std::string path = CachePath(fmt::format(
      "codec-{}-{}p-{}.mp4", encoder.file_name, clip.height, clip.frames));
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  cli::Say(fmt::format("making {}", path));
  // Only errors of SVT-AV1 are printed.
  setenv("SVT_LOG", "1", 0);
  const std::string unfinished = path + ".part";
  std::vector<std::string> arguments = {
      "ffmpeg",
      "-v",
      "error",
      "-y",
      "-f",
      "lavfi",
      "-i",
      fmt::format("testsrc2=size={}x{}:rate=30,noise=alls=12:allf=t",
                  size.width, clip.height),
      "-frames:v",
      fmt::format("{}", clip.frames),
      "-c:v"};
  arguments.insert(arguments.end(), encoder.arguments.begin(),
                   encoder.arguments.end());
  const std::string rate = fmt::format("{:.0f}k", size.kbits * encoder.rate);
  if (encoder.bounded) {
    // The buffer holds half a second of the stream.
    arguments.insert(arguments.end(),
                     {"-maxrate", rate, "-bufsize",
                      fmt::format("{:.0f}k", size.kbits * encoder.rate / 2)});
  }
  arguments.insert(arguments.end(), {"-b:v", rate, "-pix_fmt", "yuv420p", "-g",
                                     "30", "-f", "mp4", unfinished});
  const Status status = cli::demo::RunProgram(arguments, kLimit);
  if (status.ok()) {
    std::filesystem::rename(unfinished, path, error);
    if (!error) return path;
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot write {}: {}", path, error.message()));
  }
  std::filesystem::remove(unfinished, error);
  return status.WithContext(
      fmt::format("cannot make a clip of {}", encoder.name));
}

}  // namespace bulkhead::benchmark
