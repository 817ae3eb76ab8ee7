// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/reference_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/base/status_macros.h"
#include "tools/cli/conformance/ffmpeg.h"

namespace bulkhead::cli::conformance {
namespace {

constexpr int kFrames = 30;
// Names of the files with the output of FFmpeg's programs for a clip.
constexpr char kFrameList[] = "framemd5";
constexpr char kStreamList[] = "stream";
constexpr char kSampleFile[] = "f32";

struct Size {
  uint32_t width = 0;
  uint32_t height = 0;
};

struct Recipe {
  const char* name;
  const char* codec;
  const char* container;  // the ending of the file's name
  const char* pixel_format;
  Size size;
  // The options of ffmpeg that choose the encoder and its frames.
  std::vector<const char*> options;
};

// An odd size tests the most, but only some codecs and formats can have one.
// Interlaced pictures have two fields with an even number of rows each.
constexpr Size kEven = {322, 182};
constexpr Size kOdd = {321, 181};
constexpr Size kFields = {322, 184};

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = {
      {"h264",
       "h264",
       "mp4",
       "yuv420p",
       kEven,
       {"-c:v", "libx264", "-bf", "2", "-g", "10", "-vf", "setsar=4/3",
        "-color_primaries", "smpte170m", "-color_trc", "bt709", "-colorspace",
        "smpte170m", "-color_range", "tv", "-chroma_sample_location",
        "topleft"}},
      {"h264 of two fields",
       "h264",
       "mkv",
       "yuv420p",
       kFields,
       {"-c:v", "libx264", "-bf", "2", "-g", "10", "-flags", "+ildct+ilme",
        "-top", "1"}},
      // MPEG-TS carries NAL units with start codes, where MP4 and Matroska
      // have their lengths.
      {"h264 of 10 bits",
       "h264",
       "ts",
       "yuv420p10le",
       kEven,
       {"-c:v", "libx264", "-bf", "2", "-g", "10"}},
      {"h264 with whole chroma",
       "h264",
       "mkv",
       "yuv444p",
       kOdd,
       {"-c:v", "libx264", "-g", "10"}},
      {"hevc",
       "hevc",
       "mp4",
       "yuv420p",
       kEven,
       {"-c:v", "libx265", "-x265-params", "log-level=none:keyint=10"}},
      {"hevc of 10 bits",
       "hevc",
       "mkv",
       "yuv420p10le",
       kEven,
       {"-c:v", "libx265", "-x265-params", "log-level=none:keyint=10"}},
      {"av1",
       "av1",
       "mkv",
       "yuv420p",
       kOdd,
       {"-c:v", "libaom-av1", "-cpu-used", "8", "-g", "10"}},
      {"av1 of 10 bits",
       "av1",
       "mp4",
       "yuv420p10le",
       kEven,
       {"-c:v", "libaom-av1", "-cpu-used", "8", "-g", "10"}},
      {"vp9",
       "vp9",
       "webm",
       "yuv420p",
       kOdd,
       {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "10"}},
      {"vp9 of 10 bits",
       "vp9",
       "mkv",
       "yuv420p10le",
       kEven,
       {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "10"}},
      {"vp9 with whole chroma",
       "vp9",
       "mkv",
       "yuv444p",
       kOdd,
       {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "10"}},
      {"vp8",
       "vp8",
       "webm",
       "yuv420p",
       kOdd,
       {"-c:v", "libvpx", "-deadline", "realtime", "-g", "10"}},
      {"mpeg4",
       "mpeg4",
       "mp4",
       "yuv420p",
       kEven,
       {"-c:v", "mpeg4", "-bf", "2", "-g", "10"}},
      {"mpeg2video",
       "mpeg2video",
       "ts",
       "yuv420p",
       kEven,
       {"-c:v", "mpeg2video", "-bf", "2", "-g", "10"}},
      {"mpeg1video",
       "mpeg1video",
       "mkv",
       "yuv420p",
       kEven,
       {"-c:v", "mpeg1video", "-bf", "2", "-g", "10"}},
      {"theora",
       "theora",
       "ogg",
       "yuv420p",
       kEven,
       {"-c:v", "libtheora", "-g", "10"}},
      {"mjpeg", "mjpeg", "avi", "yuvj420p", kOdd, {"-c:v", "mjpeg"}},
      {"ffv1",
       "ffv1",
       "mkv",
       "yuv420p",
       kOdd,
       {"-c:v", "ffv1", "-level", "3", "-g", "10"}},
      {"flv1", "flv1", "flv", "yuv420p", kEven, {"-c:v", "flv", "-g", "10"}},
      {"prores", "prores", "mov", "yuv422p10le", kEven, {"-c:v", "prores_ks"}},
      {"huffyuv", "huffyuv", "avi", "yuv422p", kEven, {"-c:v", "huffyuv"}},
      {"png", "png", "mkv", "rgb24", kOdd, {"-c:v", "png"}},
      {"msmpeg4v3",
       "msmpeg4v3",
       "avi",
       "yuv420p",
       kEven,
       {"-c:v", "msmpeg4", "-g", "10"}},
      {"wmv2", "wmv2", "asf", "yuv420p", kEven, {"-c:v", "wmv2", "-g", "10"}},
  };
  return recipes;
}

// Returns the fields of a line, which are separated by commas.
std::vector<std::string> FieldsOf(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream words(line);
  for (std::string field; std::getline(words >> std::ws, field, ',');) {
    fields.push_back(field);
  }
  return fields;
}

// Reads the output of ffmpeg's muxer framemd5, whose lines are "stream, dts,
// pts, duration, size, md5".
Status ReadFrames(const std::string& path, ReferenceClip& clip) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kSize = "#dimensions 0: ";
    if (line.starts_with(kSize)) {
      // The rest of the line is "WIDTHxHEIGHT".
      const char* at = line.data() + kSize.size();
      const char* end = line.data() + line.size();
      at = std::from_chars(at, end, clip.width).ptr;
      if (at != end) std::from_chars(at + 1, end, clip.height);
    }
    if (line.starts_with('#')) continue;
    const std::vector<std::string> fields = FieldsOf(line);
    constexpr size_t kFields = 6;
    if (fields.size() != kFields) continue;
    int64_t pts = 0;
    const std::string& text = fields[2];
    const bool timed =
        std::from_chars(text.data(), text.data() + text.size(), pts).ec ==
        std::errc();
    clip.frames.push_back(
        {timed ? std::optional(pts) : std::nullopt, fields[kFields - 1]});
  }
  if (!clip.frames.empty() && clip.width > 0 && clip.height > 0) return {};
  return Status(Code::kBadInput, "ffmpeg decodes no frame of it");
}

// Returns whether the components of a pixel format of ffmpeg have more than 8
// bits. The names of such formats end with "le" or "be"; so do the names of
// packed RGB with fewer bits, such as rgb565le.
bool IsDeep(const std::string& pixel_format) {
  if (!pixel_format.ends_with("le") && !pixel_format.ends_with("be")) {
    return false;
  }
  constexpr std::array<std::string_view, 3> kShallow = {"444", "555", "565"};
  return std::none_of(kShallow.begin(), kShallow.end(), [&](auto bits) {
    return pixel_format.starts_with(fmt::format("rgb{}", bits)) ||
           pixel_format.starts_with(fmt::format("bgr{}", bits));
  });
}

// Reads the codec and the pixel format of the first video stream from the file
// `list`, which ffprobe wrote.
Status ReadStream(const std::string& list, ReferenceClip& clip) {
  std::ifstream file(list);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> fields = FieldsOf(line);
  if (fields.size() < 2) {
    return Status(Code::kBadInput, "ffprobe finds no video in it");
  }
  clip.codec = fields[0];
  clip.pixel_format = fields[1];
  return {};
}

// Returns the arguments with which ffmpeg decodes a clip for the comparison.
// They keep all frames and the container's timestamps in its own time base.
Words DecodingOf(const ReferenceClip& clip) {
  return {"-map",        "0:v:0",    "-fps_mode",
          "passthrough", "-copyts",  "-enc_time_base",
          "-1",          "-pix_fmt", clip.deep ? "rgb48le" : "rgb24",
          "-f",          "framemd5"};
}

// Returns a text that identifies a file of the user and its present contents:
// path, size and time of the last change.
Result<std::string> IdentityOf(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  const auto changed = std::filesystem::last_write_time(path, error);
  if (error) return Status(Code::kBadInput, error.message()).WithContext(path);
  return fmt::format("{} {} {}", std::filesystem::absolute(path).string(),
                     bytes, changed.time_since_epoch().count());
}

// Makes `file` with the arguments `making` of ffmpeg, decodes it with the
// arguments `decoding` to a file called `decoded`, and returns the directory of
// both. Returns kUnsupported with the text `refusal` if ffmpeg cannot make it.
Result<std::string> Encode(const KeptFiles& kept, const std::string& file,
                           const Words& making, const Words& decoding,
                           const std::string& decoded,
                           const std::string& refusal) {
  return KeepOfFfmpeg(kept, file, Joined(making, Joined({file}, decoding)),
                      [&](const std::string& place) -> Status {
                        const std::string path = place + "/" + file;
                        const Status made = RunFfmpeg(Joined(making, {path}));
                        if (made.code() == Code::kNotFound) return made;
                        if (!made.ok())
                          return Status(Code::kUnsupported, refusal);
                        return RunFfmpeg(Joined(Joined({"-i", path}, decoding),
                                                {place + "/" + decoded}))
                            .WithContext(path);
                      });
}

}  // namespace

Result<ReferenceClip> ReadReference(const std::string& path,
                                    const std::string& name,
                                    const KeptFiles& kept) {
  ReferenceClip clip{.name = name, .path = path};
  ASSIGN_OR_RETURN(clip.identity, IdentityOf(path));
  const Words probing = {"-select_streams",           "v:0", "-show_entries",
                         "stream=codec_name,pix_fmt", "-of", "csv=p=0"};
  ASSIGN_OR_RETURN(
      const std::string stream,
      KeepOfFfmpeg(kept, "stream", Joined(probing, {clip.identity}),
                   [&](const std::string& place) {
                     return RunFfprobe(
                                Joined(probing,
                                       {"-o", place + "/" + kStreamList, path}))
                         .WithContext(path);
                   }));
  RETURN_IF_ERROR(
      ReadStream(stream + "/" + kStreamList, clip).WithContext(path));
  clip.deep = IsDeep(clip.pixel_format);
  const Words decoding = DecodingOf(clip);
  ASSIGN_OR_RETURN(
      const std::string frames,
      KeepOfFfmpeg(kept, "frames", Joined(decoding, {clip.identity}),
                   [&](const std::string& place) {
                     return RunFfmpeg(Joined(Joined({"-i", path}, decoding),
                                             {place + "/" + kFrameList}))
                         .WithContext(path);
                   }));
  RETURN_IF_ERROR(
      ReadFrames(frames + "/" + kFrameList, clip).WithContext(path));
  return clip;
}

std::vector<ClipName> NamesOfClips() {
  std::vector<ClipName> names;
  for (const Recipe& recipe : Recipes()) {
    names.push_back({recipe.name, recipe.codec});
  }
  return names;
}

namespace {

const Recipe* RecipeOf(const std::string& name) {
  const auto recipe =
      std::find_if(Recipes().begin(), Recipes().end(),
                   [&](const Recipe& each) { return each.name == name; });
  return recipe == Recipes().end() ? nullptr : &*recipe;
}

// Makes the clip of a recipe with the given size and number of frames.
Result<ReferenceClip> Make(const std::string& name, const Size& size,
                           int frames, const KeptFiles& kept) {
  const Recipe* const recipe = RecipeOf(name);
  if (recipe == nullptr) {
    return Status(Code::kUnsupported, "there is no clip of " + name);
  }
  const auto [width, height] = size;
  std::string file =
      fmt::format("{}_{}x{}.{}", name, width, height, recipe->container);
  std::replace(file.begin(), file.end(), ' ', '_');
  // testsrc2 makes pictures of even sizes only, which are cropped.
  Words making = {
      "-f",
      "lavfi",
      "-i",
      fmt::format("testsrc2=size={}x{}:rate=25,crop={}:{}:0:0:exact=1",
                  width + width % 2, height + height % 2, width, height),
      "-frames:v",
      fmt::format("{}", frames),
      "-pix_fmt",
      recipe->pixel_format};
  making.insert(making.end(), recipe->options.begin(), recipe->options.end());
  ReferenceClip clip{.name = name,
                     .codec = recipe->codec,
                     .pixel_format = recipe->pixel_format,
                     .made = true,
                     .deep = IsDeep(recipe->pixel_format)};
  ASSIGN_OR_RETURN(const std::string place,
                   Encode(kept, file, making, DecodingOf(clip), kFrameList,
                          "this ffmpeg makes no " + name));
  clip.path = place + "/" + file;
  clip.identity = fmt::format("{} {}", fmt::join(making, " "), file);
  RETURN_IF_ERROR(
      ReadFrames(place + "/" + kFrameList, clip).WithContext(clip.path));
  if (clip.width == width && clip.height == height) return clip;
  return Status(Code::kUnsupported,
                fmt::format("this ffmpeg makes {} of {}x{} pixels, not {}x{}",
                            name, clip.width, clip.height, width, height));
}

}  // namespace

std::string PixelFormatOf(const std::string& name) {
  const Recipe* const recipe = RecipeOf(name);
  return recipe == nullptr ? "" : recipe->pixel_format;
}

Result<ReferenceClip> MakeClip(const std::string& name, const KeptFiles& kept) {
  const Recipe* const recipe = RecipeOf(name);
  return Make(name, recipe == nullptr ? Size() : recipe->size, kFrames, kept);
}

Result<ReferenceClip> MakeClipOfSize(const std::string& codec, uint32_t width,
                                     uint32_t height, const KeptFiles& kept) {
  constexpr int kFew = 3;
  return Make(codec, {width, height}, kFew, kept);
}

Result<ReferenceSound> MakeSound(const std::string& encoder,
                                 const std::string& file,
                                 const KeptFiles& kept) {
  // The channels have different tones, so that swapped channels are noticed.
  const Words making = {
      "-f",   "lavfi",
      "-i",   "aevalsrc=sin(440*2*PI*t)/4|sin(660*2*PI*t)/3:s=48000:d=1",
      "-c:a", encoder};
  ASSIGN_OR_RETURN(const std::string place,
                   Encode(kept, file, making, {"-f", "f32le"}, kSampleFile,
                          "this ffmpeg has no encoder " + encoder));
  std::ifstream samples(place + "/" + kSampleFile, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(samples), {}};
  ReferenceSound sound{.path = place + "/" + file, .samples = {}};
  sound.samples.resize(bytes.size() / sizeof(float));
  std::memcpy(sound.samples.data(), bytes.data(),
              sound.samples.size() * sizeof(float));
  return sound;
}

}  // namespace bulkhead::cli::conformance
