// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/base/status_macros.h"
#include "tools/cli/conformance/ffmpeg.h"
#include "tools/cli/conformance/reference_clip.h"

namespace bulkhead::cli::conformance {
namespace {

constexpr char kFieldList[] = "fields";

using Names = std::vector<std::string_view>;

// The names that ffprobe prints for the values of a field; the index is the
// value. The first two are enumerations of bulkhead_backend.h, the others code
// points of ITU-T H.273. An empty name stands for a value without a name.
const Names kRanges = {"unknown", "tv", "pc"};
const Names kLocations = {"unspecified", "left",       "center", "topleft",
                          "top",         "bottomleft", "bottom"};
const Names kPrimaries = {"",        "bt709",   "unknown",   "",
                          "bt470m",  "bt470bg", "smpte170m", "smpte240m",
                          "film",    "bt2020",  "smpte428",  "smpte431",
                          "smpte432"};
const Names kTransfers = {
    "",          "bt709",        "unknown",     "",
    "bt470m",    "bt470bg",      "smpte170m",   "smpte240m",
    "linear",    "log100",       "log316",      "iec61966-2-4",
    "bt1361e",   "iec61966-2-1", "bt2020-10",   "bt2020-12",
    "smpte2084", "smpte428",     "arib-std-b67"};
const Names kSpaces = {"gbr",   "bt709",    "unknown",   "",
                       "fcc",   "bt470bg",  "smpte170m", "smpte240m",
                       "ycgco", "bt2020nc", "bt2020c"};

bool IsOneOf(const std::string& codec, const Names& codecs) {
  return std::find(codecs.begin(), codecs.end(), codec) != codecs.end();
}

// Returns the value that has this name, as text.
std::optional<std::string> NumberOf(const std::string& name,
                                    const Names& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (name.empty() || found == names.end()) return std::nullopt;
  return fmt::format("{}", found - names.begin());
}

// The fields of one frame that ffprobe prints: values by key.
using FrameFields = std::map<std::string, std::string>;

// Reads ffprobe's output: "key=value|key=value", one line for each frame.
std::vector<FrameFields> ReadFrameFields(const std::string& path) {
  std::vector<FrameFields> frames;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    FrameFields frame;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, '|');) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      frame[word.substr(0, equals)] = word.substr(equals + 1);
    }
    // After a frame with side data, ffprobe prints an empty line.
    if (!frame.empty()) frames.push_back(std::move(frame));
  }
  return frames;
}

// Returns the value of `key` if all frames have the same value, else nullopt.
std::optional<std::string> Same(const std::vector<FrameFields>& frames,
                                const std::string& key) {
  std::optional<std::string> value;
  for (const FrameFields& frame : frames) {
    const auto found = frame.find(key);
    if (found == frame.end() || found->second == "N/A") return std::nullopt;
    if (value && *value != found->second) return std::nullopt;
    value = found->second;
  }
  return value;
}

}  // namespace

Result<std::string> ReadFields(const ReferenceClip& clip, Fields which,
                               const KeptFiles& kept) {
  const Words probing = {
      "-select_streams",
      "v:0",
      "-show_frames",
      "-show_entries",
      "frame=sample_aspect_ratio,interlaced_frame,top_field_first,"
      "color_range,color_space,color_primaries,color_transfer,"
      "chroma_location,pkt_duration,duration:frame_side_data=",
      "-of",
      "compact=p=0"};
  ASSIGN_OR_RETURN(
      const std::string place,
      KeepOfFfmpeg(kept, "fields", Joined(probing, {clip.identity}),
                   [&](const std::string& made) {
                     return RunFfprobe(
                                Joined(probing, {"-o", made + "/" + kFieldList,
                                                 clip.path}))
                         .WithContext(clip.path);
                   }));
  const std::vector<FrameFields> frames =
      ReadFrameFields(place + "/" + kFieldList);
  std::string fields;
  const auto add = [&](const char* field,
                       const std::optional<std::string>& value) {
    if (value) fields += fmt::format(" {}={}", field, *value);
  };
  // Adds the number of the value that ffprobe prints by name. `also` is another
  // allowed value, if it is not empty.
  const auto add_number = [&](const char* field, const Names& names,
                              const std::string& also) {
    auto number = NumberOf(Same(frames, field).value_or(""), names);
    if (number && !also.empty() && *number != also) *number += "|" + also;
    add(field, number);
  };
  // ffprobe also prints values that only the container declares, which a
  // backend does not see. In clips that MakeClip made with these codecs, the
  // bitstream declares the values, too. For other clips, "unknown" is allowed
  // as well: 0 for a range, 2 for the other colour fields.
  const Names colored = {"h264", "hevc", "av1"};
  const Names with_aspect = {"h264",  "hevc",       "av1",
                             "mpeg4", "mpeg1video", "mpeg2video"};
  const bool tells_colors = clip.made && IsOneOf(clip.codec, colored);
  if (tells_colors || which == Fields::kColors) {
    const std::string unknown = tells_colors ? "" : "2";
    add_number("color_range", kRanges, tells_colors ? "" : "0");
    add_number("color_primaries", kPrimaries, unknown);
    add_number("color_transfer", kTransfers, unknown);
    add_number("color_space", kSpaces, unknown);
  }
  if (tells_colors) add_number("chroma_location", kLocations, "");
  if (const auto aspect = Same(frames, "sample_aspect_ratio");
      aspect && clip.made) {
    // Whether the bitstream declares the aspect ratio, not only the container.
    const bool told = IsOneOf(clip.codec, with_aspect);
    add("sample_aspect_ratio", *aspect + (told ? "" : "|unknown"));
  }
  const auto interlaced = Same(frames, "interlaced_frame");
  add("interlaced", interlaced);
  if (interlaced == "1")
    add("top_field_first", Same(frames, "top_field_first"));
  const auto duration = Same(frames, "duration");
  add("duration", duration ? duration : Same(frames, "pkt_duration"));
  return fields;
}

}  // namespace bulkhead::cli::conformance
