// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/cli_fixture.h"
#include "tests/media/generated_clips.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST_F(Cli, Framemd5EqualsThatOfFfmpeg) {
  const auto expected =
      Hashes(RunProgram({"ffmpeg", "-nostdin", "-v", "error", "-threads", "1",
                         "-i", clip(), "-map", "0:v:0", "-pix_fmt", "rgb24",
                         "-fps_mode", "passthrough", "-f", "framemd5", "-"})
                 .output);
  ASSERT_EQ(expected.size(), 120u);
  for (const char* device : {"cpu", "openreg:0", "openreg:1"}) {
    const ProgramResult result =
        Run({"decode", clip(), "--device", device, "--threads", "1", "--format",
             "framemd5", "-o", "-"});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_EQ(Hashes(result.output), expected) << device;
  }
}

TEST_F(Cli, Framemd5LinesHaveTheLayoutOfFfmpeg) {
  const ProgramResult ours = Run({"decode", clip()});
  const ProgramResult theirs = RunProgram(
      {"ffmpeg", "-v", "error", "-threads", "1", "-i", clip(), "-map", "0:v:0",
       "-pix_fmt", "rgb24", "-fps_mode", "passthrough", "-enc_time_base", "-1",
       "-f", "framemd5", "-"});
  const auto lines = [](const std::string& text) {
    return text.substr(text.find("\n0,"));
  };
  ASSERT_NE(ours.output.find("\n0,"), std::string::npos) << ours.Describe();
  ASSERT_NE(theirs.output.find("\n0,"), std::string::npos);
  EXPECT_EQ(lines(ours.output), lines(theirs.output));
}

TEST_F(Cli, SliceAndListChooseFrames) {
  const auto all = Hashes(Run({"decode", clip()}).output);
  ASSERT_EQ(all.size(), 120u);
  EXPECT_EQ(Hashes(Run({"decode", clip(), "--frames", "10:20:4"}).output),
            (std::vector<std::string>{all[10], all[14], all[18]}));
  EXPECT_EQ(Hashes(Run({"decode", clip(), "--at", "5,-1,5"}).output),
            (std::vector<std::string>{all[5], all[119], all[5]}));
}

TEST_F(Cli, RawvideoIsThePackedPixels) {
  const ProgramResult result =
      Run({"decode", clip(), "--frames", "0:2", "--format", "rawvideo"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(result.output.size(), 2u * 320 * 240 * 3);
}

TEST_F(Cli, PicturesAreWritten) {
  const std::string directory = TemporaryDirectory() + "/pictures";
  const ProgramResult result =
      Run({"decode", clip(), "--at", "3,4", "-o", directory + "/%03d.png"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_TRUE(std::filesystem::exists(directory + "/003.png"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/004.png"));
}

TEST_F(Cli, TimesAndRateChooseFrames) {
  const auto all = Hashes(Run({"decode", clip()}).output);
  const auto chosen = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"decode", clip()});
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return Hashes(result.output);
  };
  using Chosen = std::vector<std::string>;
  EXPECT_EQ(chosen({"--times", "1:1.1"}), (Chosen{all[25], all[26], all[27]}));
  EXPECT_EQ(chosen({"--times", "4.72:100"}), (Chosen{all[118], all[119]}));
  EXPECT_EQ(chosen({"--times", ":0.08"}), (Chosen{all[0], all[1]}));
  EXPECT_EQ(chosen({"--times", "1:1"}), Chosen());
  EXPECT_EQ(chosen({"--times", "1:1.1", "--fps", "50"}),
            (Chosen{all[25], all[25], all[26], all[26], all[27]}));
  EXPECT_EQ(chosen({"--fps", "1"}),
            (Chosen{all[0], all[25], all[50], all[75], all[100]}));
}

TEST_F(Cli, PicturesAreResizedAndCroppedInTheOrderOfTheWords) {
  const auto expected = [&](const std::string& filters) {
    return Hashes(RunProgram({"ffmpeg", "-nostdin", "-v", "error", "-threads",
                              "1", "-i", clip(), "-vf", filters, "-pix_fmt",
                              "rgb24", "-f", "framemd5", "-"})
                      .output);
  };
  const std::string flags =
      ":flags=bilinear+full_chroma_int+full_chroma_inp+accurate_rnd";
  EXPECT_EQ(Hashes(Run({"decode", clip(), "--crop", "200x100+3+5", "--resize",
                        "90x60", "--crop", "50x50"})
                       .output),
            expected("format=rgb24,crop=200:100:3:5:exact=1,scale=90:60" +
                     flags + ",crop=50:50:20:5:exact=1"));
  ExpectFailure({"decode", clip(), "--crop", "400x100"}, 2, "400x100");
  ExpectFailure({"decode", clip(), "--resize", "400"}, 2, "640x360");
}

TEST_F(Cli, FloatsArePackedAndPicturesOfThemHave16Bits) {
  const ProgramResult raw = Run({"decode", clip(), "--at", "3", "--dtype",
                                 "float32", "--format", "rawvideo", "-o", "-"});
  EXPECT_EQ(raw.output.size(), size_t{320} * 240 * 3 * 4) << raw.errors;
  const std::string png = TemporaryDirectory() + "/deep.png";
  EXPECT_EQ(
      Run({"decode", clip(), "--at", "3", "--dtype", "float32", "-o", png})
          .exit_code,
      0);
  const ProgramResult format =
      RunProgram({"ffprobe", "-v", "error", "-show_entries", "stream=pix_fmt",
                  "-of", "csv=p=0", png});
  EXPECT_EQ(format.output, "rgb48be\n");
}

TEST_F(Cli, PlayersReadY4mOfRgb) {
  const std::string file = TemporaryDirectory() + "/clip.y4m";
  const ProgramResult written =
      Run({"decode", clip(), "--frames", "0:10", "--format", "y4m",
           "--pixel-format", "rgb24", "-o", file});
  ASSERT_EQ(written.exit_code, 0) << written.Describe();
  const ProgramResult read =
      RunProgram({"ffprobe", "-v", "error", "-count_frames", "-show_entries",
                  "stream=width,height,pix_fmt,r_frame_rate,nb_read_frames",
                  "-of", "csv=p=0", file});
  EXPECT_EQ(read.output, "320,240,yuv444p,25/1,10\n") << read.Describe();
  ExpectFailure({"decode", clip(), "--format", "y4m", "--dtype", "float32"}, 2,
                "rawvideo");
}

TEST_F(Cli, ATimeBehindTheEndIsTwo) {
  ExpectFailure({"decode", clip(), "--times", "5:6"}, 2, "4.8");
  ExpectFailure({"decode", clip(), "--times", "2:1"}, 2, "T1:T2");
  ExpectFailure({"decode", clip(), "--fps", "0"}, 2, "--fps");
}

TEST_F(Cli, IndexBeyondItsLimitIsFour) {
  ExpectFailure({"decode", clip(), "--at", "0", "--limit", "index-frames=7"}, 4,
                "--limit index-frames=N");
}

TEST_F(Cli, BackendsAndProbeSpeakJson) {
  const ProgramResult backends = Run({"backends", "--json"});
  EXPECT_EQ(backends.exit_code, 0) << backends.Describe();
  const auto facts = nlohmann::json::parse(backends.output, nullptr, false);
  ASSERT_FALSE(facts.is_discarded()) << backends.output;
  EXPECT_NE(backends.output.find("openreg"), std::string::npos);

  const ProgramResult probe = Run({"probe", clip(), "--json"});
  EXPECT_EQ(probe.exit_code, 0) << probe.Describe();
  const auto stream = nlohmann::json::parse(probe.output, nullptr, false);
  ASSERT_FALSE(stream.is_discarded()) << probe.output;
  EXPECT_NE(probe.output.find("h264"), std::string::npos);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Cli, AShownDamagedFrameIsCountedOnce) {
  std::string bytes = ReadFile(clip());
  bytes.replace(bytes.size() / 2, 40, 40, '\x55');
  const std::string path = Write("half.mp4", bytes);
  const auto decode = [&](const char* how) {
    const ProgramResult result = Run(
        {"decode", path, "--on-corrupt", how, "--format", "null", "--json"});
    return nlohmann::json::parse(result.output, nullptr, false);
  };
  const auto skipped = decode("skip");
  const auto shown = decode("show");
  EXPECT_GT(shown["frames"], skipped["frames"]) << shown;
  EXPECT_EQ(shown["frame_count"], skipped["frame_count"]) << shown;
}

TEST_F(Cli, DamagedFramesAreSkippedAndListed) {
  const auto pictures = Generate(Clip::kPng);
  ASSERT_TRUE(pictures) << pictures.error();
  std::string bytes = ReadFile(*pictures);
  size_t at = 0;
  for (int frame = 0; frame < 9; ++frame, ++at) {
    at = bytes.find("IHDR", at);
    ASSERT_NE(at, std::string::npos);
    if (frame >= 7) bytes[at] = 'X';
  }
  const std::string path = Write("damaged.mkv", bytes);
  ExpectFailure({"decode", path, "--at", "7", "--format", "null"}, 3,
                "frame 7");
  ExpectFailure({"decode", path, "--format", "null"}, 3,
                "is damaged: the decoder rejected the packet; backend cpu "
                "says: \"");
  for (const auto& [words, frames] :
       {std::pair<std::vector<std::string>, size_t>{{}, 18},
        {{"--at", "6,7,9"}, 2},
        {{"--frames", "5:11"}, 4},
        {{"--times", "0.36:0.5"}, 1},
        {{"--times", "0.3:0.5", "--fps", "20"}, 4}}) {
    std::vector<std::string> command = {"decode", path, "--on-corrupt", "skip"};
    command.insert(command.end(), words.begin(), words.end());
    const ProgramResult result = Run(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_EQ(Hashes(result.output).size(), frames) << result.output;
    EXPECT_NE(result.errors.find("damaged"), std::string::npos)
        << result.errors;
  }
  const ProgramResult shown = Run({"decode", path, "--on-corrupt", "show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.Describe();
  EXPECT_EQ(Hashes(shown.output).size(), 18u) << shown.output;
  const ProgramResult result = Run(
      {"decode", path, "--on-corrupt", "skip", "--format", "null", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const auto facts = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_FALSE(facts.is_discarded()) << result.output;
  EXPECT_EQ(facts["frames"], 18);
  EXPECT_EQ(facts["frame_count"], 20);
  const auto& damage = facts["damage"].at(0);
  EXPECT_EQ(damage["kind"], "damage");
  EXPECT_EQ(damage["sign"], "rejected");
  EXPECT_EQ(damage["first_frame"], 7);
  EXPECT_EQ(damage["last_frame"], 8);
  EXPECT_NEAR(damage["begin_seconds"].get<double>(), 0.35, 1e-6);
  EXPECT_LT(damage["first_byte"], damage["last_byte"]);
  EXPECT_EQ(damage["backend_says"],
            "libavcodec could not decode a packet of the png stream: Invalid "
            "data found when processing input");
  ExpectFailure({"decode", path, "--json"}, 2, "--format null");
}

TEST_F(Cli, AFileThatIsCutOffIsToldOf) {
  const std::string whole = TemporaryDirectory() + "/header_first.mp4";
  ASSERT_EQ(
      RunFfmpeg({"-i", clip(), "-c", "copy", "-movflags", "+faststart", whole})
          .exit_code,
      0);
  const std::string bytes = ReadFile(whole);
  const std::string path = Write("cut.mp4", bytes.substr(0, bytes.size() / 2));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"--at", "0"}, {"--frames", ":3"}}) {
    std::vector<std::string> command = {
        "decode", path, "--json", "--on-corrupt", "skip", "--format", "null"};
    command.insert(command.end(), words.begin(), words.end());
    const ProgramResult result = Run(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_NE(result.errors.find("the header counts 120"), std::string::npos)
        << result.errors;
    const auto facts = nlohmann::json::parse(result.output, nullptr, false);
    ASSERT_FALSE(facts.is_discarded()) << result.output;
    EXPECT_EQ(facts["frame_count_from_header"], 120);
    EXPECT_LT(facts["frame_count"], 120);
  }
  EXPECT_EQ(Run({"decode", whole, "--format", "null"}).errors.find("header"),
            std::string::npos);
}

// The header counts the pictures that an edit list hides, and those that refer
// to what was cut off in front of the first keyframe.
TEST_F(Cli, FramesThatTheHeaderCountsAndNobodyShowsAreNotMissing) {
  const std::string whole = TemporaryDirectory() + "/reordered.mp4";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=6",
                       "-c:v", "mpeg2video", "-g", "12", "-bf", "2", whole})
                .exit_code,
            0);
  const std::string path = TemporaryDirectory() + "/part.mp4";
  for (const char* edit_list : {"0", "1"}) {
    ASSERT_EQ(RunFfmpeg({"-ss", "2.5", "-i", whole, "-c", "copy",
                         "-use_editlist", edit_list, path})
                  .exit_code,
              0);
    for (const auto& words :
         std::vector<std::vector<std::string>>{{}, {"--at", "0"}}) {
      SCOPED_TRACE(std::string(edit_list) + (words.empty() ? "" : ", --at"));
      std::vector<std::string> command = {"decode", path, "--json", "--format",
                                          "null"};
      command.insert(command.end(), words.begin(), words.end());
      const ProgramResult result = Run(command);
      EXPECT_EQ(result.exit_code, 0) << result.Describe();
      EXPECT_EQ(result.errors.find("header"), std::string::npos)
          << result.errors;
      const auto facts = nlohmann::json::parse(result.output, nullptr, false);
      ASSERT_FALSE(facts.is_discarded()) << result.output;
      EXPECT_LT(facts["frame_count"], facts["frame_count_from_header"]);
    }
  }
}

// AVI counts the chunks without bytes, by which it shows a picture longer.
TEST_F(Cli, ChunksWithoutBytesAreNoMissingFrames) {
  const std::string path = TemporaryDirectory() + "/packed.avi";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1.6",
                       "-c:v", "libxvid", "-bf", "2", path})
                .exit_code,
            0);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{}, {"--at", "30"}}) {
    std::vector<std::string> command = {"decode", path, "--json", "--format",
                                        "null"};
    command.insert(command.end(), words.begin(), words.end());
    const ProgramResult result = Run(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_EQ(result.errors.find("header"), std::string::npos) << result.errors;
    const auto facts = nlohmann::json::parse(result.output, nullptr, false);
    ASSERT_FALSE(facts.is_discarded()) << result.output;
    EXPECT_LT(facts["frame_count"], facts["frame_count_from_header"]);
  }
}

TEST_F(Cli, DoctorIsContent) {
  const ProgramResult result = Run({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe() << result.output;
}

TEST_F(Cli, DoctorSaysWhetherARequiredMemoryCgroupIsThere) {
  const ProgramResult free = Run({"doctor"});
  EXPECT_NE(free.output.find("memory cgroup: not required"), std::string::npos)
      << free.Describe();
  const ProgramResult bound = Run({"--require-memory-cgroup", "doctor"});
  const bool there =
      bound.output.find("memory cgroup: required, and each backend gets one") !=
      std::string::npos;
  if (there) {
    EXPECT_EQ(bound.exit_code, 0) << bound.Describe();
    return;
  }
  EXPECT_EQ(bound.exit_code, 5) << bound.Describe();
  for (const char* words : {"REQUIRED and MISSING", "decoding on cpu: ",
                            "no cgroup can limit the "
                            "memory of a backend here",
                            "to do:"}) {
    EXPECT_NE(bound.output.find(words), std::string::npos) << bound.Describe();
  }
}

TEST_F(Cli, MissingFileIsTwo) {
  for (const char* command : {"decode", "probe"}) {
    ExpectFailure({command, "/no/such/clip.mp4"}, 2, "/no/such/clip.mp4");
  }
}

TEST_F(Cli, DirectoryIsTwo) {
  for (const char* command : {"decode", "probe"}) {
    ExpectFailure({command, TemporaryDirectory()}, 2, TemporaryDirectory());
  }
}

TEST_F(Cli, EmptyFileIsThree) {
  const std::string path = Write("empty.mp4", "");
  for (const char* command : {"decode", "probe"}) {
    ExpectFailure({command, path}, 3, path);
  }
}

TEST_F(Cli, TextFileIsThree) {
  const std::string path = Write("text.mp4", "no film, only words\n");
  for (const char* command : {"decode", "probe"}) {
    ExpectFailure({command, path}, 3, path);
  }
}

TEST_F(Cli, FileWithoutTheStreamIsTwo) {
  const std::string path = TemporaryDirectory() + "/sound.wav";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "sine=duration=1", path}).exit_code,
            0);
  ExpectFailure({"decode", path}, 2, path);
  ExpectFailure({"decode", path}, 2, "no video stream");
  const std::string silent = TemporaryDirectory() + "/silent.avi";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=96x64:d=1", silent})
                .exit_code,
            0);
  ExpectFailure({"decode", silent, "--audio"}, 2, "no audio stream");
}

TEST_F(Cli, SoundIsDecodedWithoutOutput) {
  const std::string path = TemporaryDirectory() + "/sound.wav";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "sine=duration=1", path}).exit_code,
            0);
  const auto ran = Run({"decode", path, "--audio", "--format", "null"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_EQ(ran.output.find("RIFF"), ran.output.npos);
}

TEST_F(Cli, IndexOutOfRangeIsTwo) {
  ExpectFailure({"decode", clip(), "--at", "120"}, 2, "120");
  ExpectFailure({"decode", clip(), "--at", "0,-121"}, 2, "-121");
}

TEST_F(Cli, StreamThatDoesNotExistIsTwo) {
  ExpectFailure({"decode", clip(), "--stream", "7"}, 2, "7");
  ExpectFailure({"decode", clip(), "--stream", "-1"}, 2, "-1");
}

TEST_F(Cli, UnknownDeviceIsTwo) {
  ExpectFailure({"decode", clip(), "--device", "nosuch"}, 2, "nosuch");
  ExpectFailure({"decode", clip(), "--device", "openreg:7"}, 2, "openreg:7");
  ExpectFailure({"decode", clip(), "--device", "a b"}, 2, "a b");
}

TEST_F(Cli, DeviceOfADisabledBackendIsFour) {
  ProgramOptions disabled;
  disabled.environment = {{"BULKHEAD_BACKENDS_DISABLE", "open*"}};
  ExpectFailure({"decode", clip(), "--device", "openreg"}, 4, "openreg",
                disabled);
  ExpectFailure({"decode", clip(), "--device", "openreg"}, 4,
                "BULKHEAD_BACKENDS_DISABLE", disabled);
  EXPECT_EQ(Run({"decode", clip(), "--at", "0"}, disabled).exit_code, 0)
      << "the others work";
}

TEST_F(Cli, BackendsAndDoctorSayWhichSessionsLoadTheirBackendAnew) {
  ProgramOptions required;
  required.environment = {{"BULKHEAD_BACKENDS_EXEC", "open*"}};
  for (const char* command : {"backends", "doctor"}) {
    const ProgramResult people = Run({command}, required);
    EXPECT_EQ(people.exit_code, 0) << people.Describe();
    EXPECT_THAT(people.output,
                AllOf(HasSubstr("  start         clone: sessions are clones"),
                      HasSubstr("  start         exec: each session loads it "
                                "anew (required by \"open*\" in "
                                "BULKHEAD_BACKENDS_EXEC)")));
    const ProgramResult facts = Run({command, "--json"}, required);
    EXPECT_EQ(facts.exit_code, 0) << facts.Describe();
    for (const auto& backend :
         nlohmann::json::parse(facts.output).at("backends")) {
      const bool exec = backend.at("name") == "openreg";
      EXPECT_EQ(backend.at("start"), exec ? "exec" : "clone");
      EXPECT_EQ(backend.at("start_reason"),
                exec ? "required by \"open*\" in BULKHEAD_BACKENDS_EXEC" : "");
    }
  }
}

TEST_F(Cli, AutoloadOffKeepsWhatComesWithBulkheadOnly) {
  ProgramOptions off;
  off.environment = {{"BULKHEAD_DEVICE_BACKEND_AUTOLOAD", "0"},
                     {"BULKHEAD_PATH", DistributionDirectory()}};
  ExpectFailure({"decode", clip(), "--device", "escape"}, 4,
                "BULKHEAD_DEVICE_BACKEND_AUTOLOAD", off);
  EXPECT_EQ(Run({"decode", clip(), "--at", "0"}, off).exit_code, 0);
}

TEST_F(Cli, WrongAutoloadSwitchIsTwo) {
  for (const char* value : {"yes", "true", "", "2"}) {
    ProgramOptions wrong;
    wrong.environment = {{"BULKHEAD_DEVICE_BACKEND_AUTOLOAD", value}};
    ExpectFailure({"decode", clip()}, 2, "BULKHEAD_DEVICE_BACKEND_AUTOLOAD",
                  wrong);
  }
}

TEST_F(Cli, WrongArgumentsAreTwo) {
  ExpectFailure({}, 2, "subcommand");
  ExpectFailure({"decodee", clip()}, 2, "no subcommand decodee");
  ExpectFailure({"decode"}, 2, "FILE");
  ExpectFailure({"decode", "--no-such"}, 2, "bulkhead decode --help");
  ExpectFailure({"decode", clip(), "--on-corrupt", "ignore"}, 2, "nearest");
  ExpectFailure({"decode", clip(), "--audio", "--resize", "8x8"}, 2, "--audio");
  ExpectFailure({"decode", clip(), "--frames", "a:b"}, 2, "a:b");
  ExpectFailure({"decode", clip(), "--at", "1,x"}, 2, "x");
  ExpectFailure({"decode", clip(), "--format", "gif"}, 2, "gif");
  ExpectFailure({"decode", clip(), "--frames", "0:1", "--at", "1"}, 2, "--at");
}

TEST_F(Cli, TooFewDescriptorsAreFourAndNamed) {
  for (const char* most : {"10", "12", "16", "40"}) {
    const ProgramResult result = RunProgram(
        {"bash", "-c",
         "ulimit -n " + std::string(most) +
             " && exec \"$0\" decode \"$1\" --at 0 --format null",
         PathFromEnvironment("BULKHEAD_TEST_CLI"), clip()},
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
    EXPECT_EQ(result.exit_code, 4) << most << ": " << result.Describe();
    // The application lacks them, or bulkheadd, which has the hard limit.
    EXPECT_THAT(result.errors, ContainsRegex("ulimit -H?n")) << most;
    // Before the sandbox is tried.
    EXPECT_THAT(result.errors, HasSubstr("too few")) << most;
  }
}

TEST_F(Cli, OptionsOfTheBackendReachIt) {
  const auto decode = [&](const std::string& option) {
    return Run({"decode", clip(), "--format", "null", "--option", option});
  };
  EXPECT_EQ(decode("skip_loop_filter=none").exit_code, 0);
  const ProgramResult unknown = decode("no_such_option=1");
  EXPECT_EQ(unknown.exit_code, 3) << unknown.Describe();
  EXPECT_THAT(unknown.errors, HasSubstr("no_such_option"));
  ExpectFailure({"decode", clip(), "--option", "alone"}, 2, "KEY=VALUE");
}

TEST_F(Cli, PictureBeyondTheLimitIsFour) {
  ExpectFailure({"decode", clip(), "--max-frame-pixels", "1000"}, 4, "1000");
}

TEST_F(Cli, MissingProgramsAreNamed) {
  ExpectFailure({"decode", clip(), "--libexec", "/no/such/libexec"}, 2,
                "/no/such/libexec");
}

TEST_F(Cli, UnwritableOutputIsTwoAndNamed) {
  ExpectFailure({"decode", clip(), "-o", "/proc/nothing/out.md5"}, 2,
                "/proc/nothing");
}

TEST_F(Cli, HelpTeaches) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"decode"},
                                                {"sheet"},
                                                {"probe"},
                                                {"backends"},
                                                {"entry-points"},
                                                {"install"},
                                                {"uninstall"},
                                                {"doctor"},
                                                {"demo"}}) {
    std::vector<std::string> arguments = words;
    arguments.push_back("--help");
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_NE(result.output.find("\n  bulkhead "), std::string::npos)
        << "no example in: " << result.output;
    EXPECT_EQ(result.errors, "");
  }
}

}  // namespace
}  // namespace bulkhead::tests
