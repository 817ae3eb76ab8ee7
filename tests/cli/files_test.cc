// SPDX-License-Identifier: Apache-2.0
// Tests the commands that read files: several files, standard input, and what
// the commands print or show.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace bulkhead::tests {
namespace {

TEST_F(Cli, ASheetShowsTheFileAtAGlance) {
  const std::string sheet = TemporaryDirectory() + "/sheet.png";
  const ProgramResult drawn = Run({"sheet", clip(), "-o", sheet, "--columns",
                                   "3", "--rows", "2", "--width", "100"});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.Describe();
  // The cells have 100x75 pixels, with a border of 4 and gaps of 4.
  EXPECT_EQ(RunProgram({"ffprobe", "-v", "error", "-show_entries",
                        "stream=width,height", "-of", "csv=p=0", sheet})
                .output,
            "340,178\n");
  ExpectFailure({"sheet", clip(), "-o", sheet, "--columns", "100", "--rows",
                 "100", "--width", "4096"},
                2, "too large");
  ExpectFailure({"sheet", clip(), "-o", "sheet.jpg"}, 2, ".png");
  ExpectFailure({"decode", clip(), "-o", "out.gif"}, 2, ".gif");
  ProgramOptions options;
  options.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                         {"CLI", PathFromEnvironment("BULKHEAD_TEST_CLI")},
                         {"CLIP", clip()},
                         {"SHEET", sheet + ".piped.png"}};
  const ProgramResult piped = RunProgram(
      {"sh", "-c", R"(cat "$CLIP" | "$CLI" sheet - -o "$SHEET")"}, options);
  EXPECT_EQ(piped.exit_code, 0) << piped.Describe();
  EXPECT_TRUE(std::filesystem::exists(sheet + ".piped.png"));
}

TEST_F(Cli, ASheetOfAFileWithoutTimesShowsItsFramesInOrder) {
  const std::string raw = TemporaryDirectory() + "/raw.264";
  ASSERT_EQ(RunFfmpeg({"-i", clip(), "-c", "copy", raw}).exit_code, 0);
  ExpectFailure({"decode", raw, "--times", "1:2"}, 3, "no timestamps");
  const std::string sheet = TemporaryDirectory() + "/raw.png";
  const ProgramResult drawn = Run({"sheet", raw, "-o", sheet});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.Describe();
  EXPECT_TRUE(std::filesystem::exists(sheet));
}

TEST_F(Cli, OneBadFileStopsNoOther) {
  const std::string bad = Write("bad.mp4", "no media at all");
  const auto all = Hashes(Run({"decode", clip()}).output);
  const ProgramResult result =
      Run({"decode", clip(), bad, "/no/such/clip.mp4", clip()});
  EXPECT_EQ(result.exit_code, 3) << "the highest of 0, 2 and 3";
  auto twice = all;
  twice.insert(twice.end(), all.begin(), all.end());
  EXPECT_EQ(Hashes(result.output), twice);
  EXPECT_NE(result.output.find("#file: " + clip() + "\n"), std::string::npos);
  EXPECT_NE(result.errors.find("2 of 4 files: 240 frames"), std::string::npos)
      << result.errors;
  EXPECT_NE(result.errors.find("failed: " + bad + ", /no/such/clip.mp4"),
            std::string::npos)
      << result.errors;
}

TEST_F(Cli, SeveralFilesGetOutputsOfTheirOwn) {
  const std::string directory = TemporaryDirectory() + "/several";
  const std::string copy = TemporaryDirectory() + "/copy.mp4";
  std::filesystem::copy_file(clip(), copy);
  const ProgramResult result =
      Run({"decode", clip(), copy, "--at", "3", "--progress", "-o",
           directory + "/{name}/%02d.png"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_TRUE(std::filesystem::exists(directory + "/copy/03.png"));
  EXPECT_NE(result.errors.find("1/1 frames (100%)"), std::string::npos)
      << result.errors;
  ExpectFailure({"decode", clip(), copy, "-o", directory + "/all.md5"}, 2,
                "{name}");
  EXPECT_FALSE(std::filesystem::exists(directory + "/all.md5"));
}

TEST_F(Cli, StdinIsAnInputPipedOrNot) {
  const auto all = Hashes(Run({"decode", clip()}).output);
  ProgramOptions options;
  options.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                         {"CLI", PathFromEnvironment("BULKHEAD_TEST_CLI")},
                         {"CLIP", clip()}};
  for (const char* command :
       {R"(cat "$CLIP" | "$CLI" decode -)", R"("$CLI" decode - < "$CLIP")"}) {
    const ProgramResult result = RunProgram({"sh", "-c", command}, options);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_EQ(Hashes(result.output), all) << command;
  }
  const ProgramResult nothing =
      RunProgram({"sh", "-c", R"(: | "$CLI" decode -)"}, options);
  EXPECT_EQ(nothing.exit_code, 3) << nothing.Describe();
  EXPECT_NE(nothing.errors.find("standard input is empty"), std::string::npos);
}

TEST_F(Cli, ProbeTellsOfMirroredFiles) {
  std::ifstream in(clip(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  // The first number of the display matrix becomes -1.
  bytes.replace(bytes.find("tkhd") + 44, 4, {"\xff\xff\0\0", 4});
  const std::string path = TemporaryDirectory() + "/mirrored.mp4";
  std::ofstream(path, std::ios::binary) << bytes;
  const ProgramResult result = Run({"probe", path});
  EXPECT_NE(result.output.find("flipped vertically, rotated by 180 degrees"),
            std::string::npos)
      << result.Describe();
  const ProgramResult json = Run({"probe", path, "--json"});
  const auto facts = nlohmann::json::parse(json.output, nullptr, false);
  ASSERT_FALSE(facts.is_discarded()) << json.output;
  EXPECT_EQ(facts["streams"].at(0)["rotation"], 180);
  EXPECT_EQ(facts["streams"].at(0)["vertical_flip"], true);
}

TEST_F(Cli, ProbeTellsOfEveryStreamOfEachFile) {
  const ProgramResult result = Run({"probe", clip(), clip(), "--count"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_NE(result.output.find("120 frames"), std::string::npos)
      << result.output;
  const ProgramResult json = Run({"probe", clip(), "--json"});
  const auto facts = nlohmann::json::parse(json.output, nullptr, false);
  ASSERT_FALSE(facts.is_discarded()) << json.output;
  EXPECT_EQ(facts["streams"].at(0)["codec"], "h264");
  EXPECT_EQ(facts["streams"].at(0)["width"], 320);
  ExpectFailure({"probe", clip(), "--limit", "streams=0"}, 2, "not a limit");
  ExpectFailure({"probe", clip(), "--limit", "sterams=1"}, 2, "index-frames");
}

}  // namespace
}  // namespace bulkhead::tests
