// SPDX-License-Identifier: Apache-2.0
#include "tests/access/access_clips.h"

#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Words = std::vector<std::string>;

struct Recipe {
  const char* name;
  const char* from;  // another clip whose packets are taken, or null
  Words words;
};

const std::vector<Recipe>& Recipes() {
  const Words x264 = {"-c:v", "libx264", "-g", "15", "-bf", "3"};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  static const auto& recipes = *new std::vector<Recipe>{
      {"h264_b_pyramid.mp4", nullptr,
       with(x264, {"-x264-params", "b-pyramid=normal"})},
      {"h264_open_gop.mp4", nullptr,
       with(x264, {"-x264-params", "open-gop=1:scenecut=0"})},
      {"h264_open_gop.mkv", "h264_open_gop.mp4", {"-c", "copy"}},
      {"h264_open_gop.ts", "h264_open_gop.mp4", {"-c", "copy"}},
      {"h264_raw.264", "h264_open_gop.mp4", {"-c", "copy"}},
      {"h264_interlaced.mkv",
       nullptr,
       {"-vf", "tinterlace=interleave_top", "-c:v", "libx264", "-flags",
        "+ildct+ilme", "-g", "15"}},
      {"h264_intra_refresh.mkv",
       nullptr,
       {"-c:v", "libx264", "-g", "15", "-x264-params", "intra-refresh=1"}},
      {"h264_edit_list.mp4", "h264_b_pyramid.mp4", {"-c", "copy"}},
      {"h264_variable_rate.mp4", nullptr,
       with(x264, {"-vf", "select='gt(mod(n,7),2)'", "-fps_mode", "vfr"})},
      {"h264_negative_start.mkv",
       "h264_b_pyramid.mp4",
       {"-c", "copy", "-output_ts_offset", "-1", "-avoid_negative_ts",
        "disabled"}},
      {"h264_late_start.mkv",
       "h264_b_pyramid.mp4",
       {"-c", "copy", "-output_ts_offset", "100"}},
      {"h264_no_first_keyframe.mkv",
       "h264_open_gop.mp4",
       {"-c", "copy", "-bsf:v", "noise=drop=eq(n\\,0)"}},
      {"h264_no_second_keyframe.mkv",
       "h264_b_pyramid.mp4",
       {"-c", "copy", "-bsf:v", "noise=drop=eq(n\\,15)"}},
      {"h264_jitter.mkv",
       "h264_b_pyramid.mp4",
       {"-c", "copy", "-bsf:v", "setts=pts=PTS+900*mod(N\\,5)"}},
      {"hevc_open_gop.mp4",
       nullptr,
       {"-c:v", "libx265", "-x265-params",
        "keyint=15:bframes=3:open-gop=1:log-level=none:pools=none"}},
      {"hevc_open_gop.ts", "hevc_open_gop.mp4", {"-c", "copy"}},
      {"vp8_hidden_frames.webm",
       nullptr,
       {"-c:v", "libvpx", "-g", "15", "-auto-alt-ref", "1", "-lag-in-frames",
        "16"}},
      {"vp9_hidden_frames.webm",
       nullptr,
       {"-c:v", "libvpx-vp9", "-g", "15", "-auto-alt-ref", "1",
        "-lag-in-frames", "16", "-cpu-used", "5"}},
      {"av1.mp4", nullptr, {"-c:v", "libsvtav1", "-g", "15", "-preset", "10"}},
      {"mpeg2_open_gop.ts",
       nullptr,
       {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"}},
      {"mpeg2_open_gop.mpg",
       nullptr,
       {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"}},
      {"mpeg4_no_timestamps.avi",
       nullptr,
       {"-c:v", "mpeg4", "-g", "12", "-bf", "2"}},
  };
  return recipes;
}

}  // namespace

std::vector<std::string> AccessClips() {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) names.push_back(recipe.name);
  return names;
}

Result<std::string> MakeAccessClip(const std::string& name) {
  const std::string path = TemporaryDirectory() + "/" + name;
  if (std::filesystem::exists(path)) return path;
  for (const Recipe& recipe : Recipes()) {
    if (name != recipe.name) continue;
    Words words;
    if (recipe.from != nullptr) {
      const auto from = MakeAccessClip(recipe.from);
      if (!from) return from;
      // Cuts between two keyframes; mp4 records such a cut in an edit list.
      if (name == "h264_edit_list.mp4") words.insert(words.end(), {"-ss", "1"});
      words.insert(words.end(), {"-i", *from});
    } else {
      words.insert(words.end(), {"-f", "lavfi", "-i",
                                 "testsrc2=size=160x120:rate=25:duration=3"});
    }
    words.insert(words.end(), recipe.words.begin(), recipe.words.end());
    if (recipe.from == nullptr) {
      words.insert(words.end(), {"-pix_fmt", "yuv420p", "-threads", "1"});
    }
    words.push_back(path);
    const ProgramResult made = RunFfmpeg(words);
    if (!made.started) {
      return Status(Code::kNotFound, "there is no ffmpeg on this machine");
    }
    if (made.exit_code == 0) return path;
    std::filesystem::remove(path);
    return Status(Code::kUnsupported,
                  "ffmpeg cannot make " + name + ": " + made.Describe());
  }
  return Status(Code::kInvalidArgument, "there is no clip " + name);
}

}  // namespace bulkhead::tests
