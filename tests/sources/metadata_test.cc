// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <strings.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Json = nlohmann::json;

// Returns every file beside the manifest, except the reference outputs.
std::vector<std::string> SharedFiles() {
  std::vector<std::string> files;
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) return files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(shared) + "/media", error)) {
    const std::string extension = entry.path().extension().string();
    static const std::set<std::string> kOthers{".framemd5", ".tsv", ".md",
                                               ".txt", ".json"};
    if (entry.is_regular_file() && kOthers.count(extension) == 0) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Text(const Json& object, const char* key) {
  if (!object.contains(key)) return "";
  const Json& value = object[key];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns the value of a tag. Files differ in the case of a tag's name.
std::string Tag(const Json& tags, const std::string& key) {
  for (const auto& [name, value] : tags.items()) {
    if (strcasecmp(name.c_str(), key.c_str()) == 0)
      return Text(tags, name.c_str());
  }
  return "";
}

std::optional<double> Number(const Json& object, const char* key) {
  const std::string text = Text(object, key);
  return text.empty() || text == "N/A" ? std::nullopt
                                       : std::optional(std::stod(text));
}

std::string RatioText(const Ratio& ratio, char separator) {
  if (ratio.denominator == 0) return "";
  return std::to_string(ratio.numerator) + separator +
         std::to_string(ratio.denominator);
}

// Returns an empty string for each notation of ffprobe for "unknown".
std::string Known(const std::string& text) {
  static const std::set<std::string> kUnknown{"0/0", "0/1", "0:1", "unknown",
                                              "N/A"};
  return kUnknown.count(text) != 0 ? "" : text;
}

void ExpectNear(const std::optional<double>& ours,
                const std::optional<double>& theirs, const char* what) {
  EXPECT_EQ(ours.has_value(), theirs.has_value()) << what;
  // ffprobe prints microseconds.
  if (ours && theirs) {
    EXPECT_NEAR(*ours, *theirs, 2e-6) << what;
  }
}

void ExpectSameVideo(const StreamMetadata& ours, const Json& theirs) {
  const bool turned = ours.rotation % 180 != 0;
  EXPECT_EQ(turned ? ours.height : ours.width, theirs.value("width", 0u));
  EXPECT_EQ(turned ? ours.width : ours.height, theirs.value("height", 0u));
  EXPECT_EQ(ours.pixel_format, Known(Text(theirs, "pix_fmt")));
  EXPECT_EQ(RatioText(ours.average_frame_rate, '/'),
            Known(Text(theirs, "avg_frame_rate")));
  EXPECT_EQ(RatioText(ours.base_frame_rate, '/'),
            Known(Text(theirs, "r_frame_rate")));
  if (!turned) {
    EXPECT_EQ(RatioText(ours.sample_aspect_ratio, ':'),
              Known(Text(theirs, "sample_aspect_ratio")));
  }
  const std::map<std::string, int> ranges{{"", 0}, {"tv", 1}, {"pc", 2}};
  EXPECT_EQ(ours.color_range, ranges.at(Known(Text(theirs, "color_range"))));
  const std::map<std::string, int> spaces{
      {"", 2},          {"gbr", 0},      {"bt709", 1},
      {"fcc", 4},       {"bt470bg", 5},  {"smpte170m", 6},
      {"smpte240m", 7}, {"bt2020nc", 9}, {"bt2020c", 10}};
  const std::string space = Known(Text(theirs, "color_space"));
  if (spaces.count(space) != 0) {
    EXPECT_EQ(ours.color_space, spaces.at(space));
  }
}

void ExpectSameStream(const StreamMetadata& ours, const Json& theirs) {
  const std::string kind = Text(theirs, "codec_type");
  EXPECT_EQ(StreamKindName(ours.kind), kind.empty() ? "unknown" : kind);
  EXPECT_EQ(ours.codec, Known(Text(theirs, "codec_name")));
  // ffprobe prints a number for a profile without a name.
  const std::string profile = Known(Text(theirs, "profile"));
  if (profile.find_first_not_of("-0123456789") != std::string::npos) {
    EXPECT_EQ(ours.profile, profile);
  }
  EXPECT_EQ(RatioText(ours.time_base, '/'), Text(theirs, "time_base"));
  ExpectNear(ours.begin_seconds_from_header, Number(theirs, "start_time"),
             "start");
  const auto duration = Number(theirs, "duration");
  ExpectNear(ours.duration_seconds_from_header,
             duration && *duration > 0 ? duration : std::nullopt, "duration");
  EXPECT_EQ(static_cast<double>(ours.bit_rate.value_or(0)),
            Number(theirs, "bit_rate").value_or(0));
  EXPECT_EQ(static_cast<double>(ours.frame_count_from_header.value_or(0)),
            Number(theirs, "nb_frames").value_or(0));
  const Json disposition = theirs.value("disposition", Json::object());
  EXPECT_EQ(ours.is_default, disposition.value("default", 0) == 1);
  EXPECT_EQ(ours.is_cover, disposition.value("attached_pic", 0) == 1);
  const Json tags = theirs.value("tags", Json::object());
  EXPECT_EQ(ours.language, Tag(tags, "language"));
  if (ours.kind == StreamKind::kVideo) ExpectSameVideo(ours, theirs);
  if (ours.kind == StreamKind::kAudio) {
    EXPECT_EQ(ours.sample_format, Known(Text(theirs, "sample_fmt")));
    EXPECT_EQ(ours.sample_rate, Number(theirs, "sample_rate").value_or(0));
    EXPECT_EQ(ours.channels, theirs.value("channels", 0u));
    EXPECT_EQ(ours.channel_layout, Known(Text(theirs, "channel_layout")));
  }
}

// What a scan should find, computed from the packets that ffprobe prints.
struct Content {
  uint64_t packets = 0;
  int64_t begin = LLONG_MAX;
  int64_t end = LLONG_MIN;
};

std::map<int, Content> ContentOf(const std::string& path) {
  std::map<int, Content> contents;
  const ProgramResult result =
      RunProgram({"ffprobe", "-v", "quiet", "-show_entries",
                  "packet=stream_index,pts,dts,duration,size,flags", "-of",
                  "csv=p=0", path});
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) {
      fields.push_back(word);
    }
    if (fields.size() < 6 || fields[4] == "0" ||
        fields[5].find('D') != std::string::npos) {
      continue;
    }
    Content& content = contents[std::stoi(fields[0])];
    ++content.packets;
    const std::string& time = fields[1] != "N/A" ? fields[1] : fields[2];
    if (time == "N/A") continue;
    content.begin = std::min<int64_t>(content.begin, std::stoll(time));
    const int64_t duration = fields[3] == "N/A" ? 0 : std::stoll(fields[3]);
    content.end = std::max<int64_t>(content.end, std::stoll(time) + duration);
  }
  return contents;
}

void ExpectSameContent(const StreamMetadata& ours, const Content& theirs) {
  EXPECT_EQ(ours.frame_count_from_content, theirs.packets);
  const Ratio unit = ours.time_base;
  if (theirs.begin == LLONG_MAX || unit.value() == 0) return;
  EXPECT_EQ(
      ours.begin_seconds_from_content,
      static_cast<double>(theirs.begin) * unit.numerator / unit.denominator);
  EXPECT_EQ(
      ours.end_seconds_from_content,
      static_cast<double>(theirs.end) * unit.numerator / unit.denominator);
}

class Metadata : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    const ProgramResult version = RunProgram({"ffprobe", "-version"});
    if (version.exit_code != 0) GTEST_SKIP() << "there is no ffprobe here";
  }

  void ExpectAsFfprobe(const std::string& path) {
    SCOPED_TRACE(path);
    const ProgramResult probe =
        RunProgram({"ffprobe", "-v", "quiet", "-show_format", "-show_streams",
                    "-of", "json", path});
    // Names and tags in a file are not always UTF-8.
    const Json theirs = Json::parse(probe.output, nullptr, false);
    const auto ours = host_->Probe(path, {.scan = true});
    if (probe.exit_code != 0 || theirs.is_discarded()) {
      EXPECT_EQ(bool{ours}, probe.exit_code == 0);
      return;
    }
    ASSERT_TRUE(ours) << ours.error();
    const Json& format = theirs["format"];
    EXPECT_EQ(ours->format, Text(format, "format_name"));
    const auto duration = Number(format, "duration");
    ExpectNear(ours->duration_seconds,
               duration && *duration > 0 ? duration : std::nullopt,
               "duration of the file");
    ExpectNear(ours->begin_seconds, Number(format, "start_time"),
               "start of the file");
    EXPECT_EQ(static_cast<double>(ours->bit_rate.value_or(0)),
              Number(format, "bit_rate").value_or(0));
    ASSERT_EQ(ours->streams.size(), theirs["streams"].size());
    auto contents = ContentOf(path);
    for (size_t i = 0; i < ours->streams.size(); ++i) {
      SCOPED_TRACE("stream " + std::to_string(i));
      ExpectSameStream(ours->streams[i], theirs["streams"][i]);
      ExpectSameContent(ours->streams[i], contents[static_cast<int>(i)]);
    }
    const Json json = Json::parse(ToJson(*ours), nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    EXPECT_EQ(json["streams"].size(), ours->streams.size());
  }

  Host& host() { return *host_; }

 private:
  std::unique_ptr<Host> host_;
};

TEST_F(Metadata, OfGeneratedClipsIsThatOfFfprobe) {
  for (const Clip clip : AllClips()) {
    const auto path = Generate(clip);
    if (!path) GTEST_SKIP() << path.error();
    ExpectAsFfprobe(*path);
  }
}

TEST_F(Metadata, OfSharedFilesIsThatOfFfprobe) {
  if (std::getenv("BULKHEAD_SHARED") == nullptr) {
    GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  }
  const auto files = SharedFiles();
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) ExpectAsFfprobe(file);
}

TEST_F(Metadata, IsTheSameOnAnyDevice) {
  const auto path = Generate(Clip::kRotated);
  if (!path) GTEST_SKIP() << path.error();
  const auto cpu = host().Probe(*path, {.device = "cpu"});
  const auto openreg = host().Probe(*path, {.device = "openreg:1"});
  ASSERT_TRUE(cpu) << cpu.error();
  ASSERT_TRUE(openreg) << openreg.error();
  EXPECT_EQ(ToJson(*cpu), ToJson(*openreg));
  EXPECT_NE(cpu->streams.at(0).rotation, 0);
}

TEST_F(Metadata, OfWhatIsNoMediaIsBadInput) {
  const auto text = host().Probe(LibexecDirectory() + "/bulkheadd");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), Code::kBadInput) << text.error();
  const auto nothing = host().Probe("/no/such/file.mp4");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace bulkhead::tests
