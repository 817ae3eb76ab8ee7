// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead conformance` passes for sound backends, and names the clause for
// each of many that have one thing wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/wrong_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using nlohmann::json;

// A limit of hangs: where starting a process is slow, the leak checks of a
// sound backend take five minutes.
constexpr std::chrono::minutes kLimit{10};
// In the names of the checks of sound, which no wrong backend fails.
constexpr const char* kAudio = "aac,mp3,flac,opus,vorbis,pcm_s16le";

ProgramResult Conformance(const std::vector<std::string>& arguments) {
  // All runs use one set of clips.
  std::vector<std::string> command = {PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                      "conformance", "--clips",
                                      TemporaryDirectory() + "/clips"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(
      command,
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"BULKHEAD_STATE_DIR", TemporaryDirectory() + "/state"}},
       .limit = kLimit});
}

json Parsed(const ProgramResult& result) {
  json report = json::parse(result.output, nullptr, false);
  EXPECT_TRUE(report.is_object()) << result.Describe();
  return report.is_object() ? report : json::object();
}

class SoundBackend : public testing::TestWithParam<const char*> {};

TEST_P(SoundBackend, Conforms) {
  const std::string junit = TemporaryDirectory() + "/" + GetParam() + ".xml";
  const ProgramResult result =
      Conformance({GetParam(), "--json", "--junit", junit});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const json report = Parsed(result);
  EXPECT_EQ(report["failed"], 0);
  // All clips of videos and of sound, and what is done with them.
  EXPECT_GE(report["passed"], 35) << result.Describe();
  for (const json& check : report["checks"]) {
    EXPECT_NE(check["clause_says"], "") << check;
    const std::string name = check["check"];
    // ffmpeg of this machine makes each clip, in the size that is wanted.
    if (name.starts_with("decodes ") && !name.ends_with("it declares")) {
      EXPECT_EQ(check["result"], "passed") << check;
    }
  }
  std::ifstream file(junit);
  const std::string xml{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(xml.find("failures=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"decodes h264 [frame-10]\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, SoundBackend,
                         testing::Values("cpu", "openreg"),
                         [](const auto& row) { return row.param; });

struct Wrong {
  const char* name;
  const char* clause;
  // Other clauses that it breaks too.
  std::vector<std::string> also = {};
  // The clips in which the fault shows: those of mpeg4 are the quickest.
  const char* codecs = "mpeg4";
};

void PrintTo(const Wrong& wrong, std::ostream* stream) {
  *stream << wrong.name;
}

class WrongBackend : public testing::TestWithParam<Wrong> {};

TEST_P(WrongBackend, FailsAndTheClauseIsNamed) {
  const std::string path = InstallWrong(GetParam().name);
  // bound: what a wrong backend has that hangs.
  std::vector<std::string> arguments = {
      "wrong",         "--codec",      GetParam().codecs, "--json",
      "--plugin-path", path,           "--limit",         "open-ms=3000",
      "--limit",       "seek-ms=3000", "--limit",         "frame-ms=3000"};
  const std::string clause = GetParam().clause;
  // What takes longest and is not about the clause is left out, but nothing is
  // where nothing is wrong. Buffers that are kept show in many opens as well.
  const bool is_sound = clause.empty();
  const bool leaks = clause == "close-1" || clause == "acquire-3";
  const bool without_leaks = !is_sound && !leaks;
  std::string without = kAudio;
  if (without_leaks) without += ",leaks";
  if (clause != "life-5" && clause != "frame-8") without += ",damaged packets";
  if (!is_sound) arguments.insert(arguments.end(), {"--without", without});
  const ProgramResult result = Conformance(arguments);
  const json report = Parsed(result);
  std::vector<std::string> clauses;
  for (const json& check : report["checks"]) {
    if (without_leaks && check["check"] == "leaks nothing in 1000 opens") {
      EXPECT_EQ(check["words"], "left out by --without leaks");
    }
    if (check["result"] != "failed") continue;
    clauses.push_back(check["clause"]);
    EXPECT_NE(check["clause_says"], "") << check;
    EXPECT_NE(check["words"], "") << check;
  }
  if (*GetParam().clause == '\0') {
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_TRUE(clauses.empty()) << result.Describe();
    return;
  }
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  EXPECT_NE(std::find(clauses.begin(), clauses.end(), GetParam().clause),
            clauses.end())
      << result.Describe();
  // The records of the checks are thrown away.
  EXPECT_EQ(result.output.find("crashes show"), std::string::npos)
      << result.Describe();
  const std::vector<std::string>& also = GetParam().also;
  for (const std::string& clause : clauses) {
    EXPECT_TRUE(clause == GetParam().clause ||
                std::find(also.begin(), also.end(), clause) != also.end())
        << "charged with " << clause << ": " << result.Describe();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wrongs, WrongBackend,
    testing::Values(
        Wrong{"nothing", "", {}, "h264,mpeg4"}, Wrong{"no_table", "life-1"},
        // It opens the first of its devices only.
        Wrong{"unsteady_devices", "device-2", {"device-4"}},
        Wrong{"declares_too_much", "device-4"},
        Wrong{"takes_any_option", "open-3"}, Wrong{"says_nothing", "result-2"},
        Wrong{"wrong_pts", "frame-6"}, Wrong{"no_pts", "frame-6"},
        Wrong{"swapped_planes", "frame-10"},
        // The bit shows only in some pictures, of a damaged clip as well.
        Wrong{"wrong_picture", "frame-10", {"frame-8"}},
        Wrong{"clears_the_lowest_bit", "frame-10", {}, "h264"},
        Wrong{"wrong_last_column", "frame-10", {}, "h264"},
        Wrong{"narrow_rows", "frame-3"}, Wrong{"few_planes", "frame-2"},
        Wrong{"no_format", "frame-1"},
        Wrong{"ignores_flush", "flush-1", {"flush-2"}},
        Wrong{"forgets_the_last", "send-3"}, Wrong{"reorders", "receive-1"},
        Wrong{"ends_early", "end-1"}, Wrong{"never_ready", "again-3"},
        Wrong{"unknown_result", "result-1"}, Wrong{"sleeps", "result-4"},
        Wrong{"crashes", "life-5"}, Wrong{"exits", "life-5"},
        Wrong{"loses_the_device", "life-5"},
        Wrong{"crashes_on_damage", "life-5", {}, "h264"},
        Wrong{"starts_a_program", "life-3"},
        Wrong{"differs_with_threads", "life-4"},
        Wrong{"differs_after_a_crash", "life-4"},
        Wrong{"differs_when_opened_again", "close-1"},
        Wrong{"leaks_memory", "close-1"}, Wrong{"leaks_threads", "close-1"},
        Wrong{"leaks_a_little", "close-1"}, Wrong{"leaks_mappings", "close-1"},
        Wrong{"wrong_aspect_ratio", "frame-11"},
        Wrong{"wrong_duration", "frame-11"},
        Wrong{"wrong_interlaced", "frame-11"},
        Wrong{"wrong_chroma_location", "color-2", {}, "h264"},
        Wrong{"wrong_color_transfer", "color-3", {}, "h264"},
        Wrong{"wrong_color_space", "color-3"},
        Wrong{"wrong_color_range", "color-3"},
        Wrong{"declares_other_formats", "device-4"},
        Wrong{"declares_more_formats", "device-4", {}, "h264"},
        Wrong{"declares_larger_pictures", "device-4"},
        Wrong{"starts_a_thread", "life-2"}, Wrong{"exchanges_times", "frame-6"},
        Wrong{"crashes_in_close", "close-1"},
        Wrong{"fills_too_early", "receive-2"},
        Wrong{"careless", "acquire-3", {"result-2", "device-4"}},
        Wrong{"overwrites_frames", "frame-5"}, Wrong{"hides_damage", "frame-8"},
        Wrong{"hides_errors", "frame-9", {}, "h264"},
        Wrong{"asks_for_buffers_for_ever", "acquire-1"},
        Wrong{"fails_at_a_second_end", "send-4"},
        Wrong{"is_late_after_flush", "result-4"}),
    [](const auto& row) { return row.param.name; });

TEST(Conformance, LeavesNoFileWhenItIsInterrupted) {
  const std::string directory = TemporaryDirectory() + "/interrupted";
  std::filesystem::create_directory(directory);
  const std::string output = TemporaryDirectory() + "/output";
  // The signal comes when the first check is over.
  const ProgramResult shell = RunProgram(
      {"sh", "-c",
       "mkfifo '" + output + "'; \"$0\" conformance cpu > '" + output +
           "' & while read -r line; do case $line in *loads*) kill -TERM $!;; "
           "esac; done < '" +
           output + "'; wait $!; echo \"ended with $?\"",
       PathFromEnvironment("BULKHEAD_TEST_CLI")},
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"BULKHEAD_STATE_DIR", TemporaryDirectory() + "/state"},
                       {"TMPDIR", directory}},
       .limit = kLimit});
  EXPECT_NE(shell.output.find("ended with 143"), std::string::npos)
      << shell.Describe();
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(Conformance, BlamesNoBackendForDamagedFiles) {
  const std::string directory = TemporaryDirectory() + "/media";
  std::filesystem::create_directory(directory);
  const std::string path = directory + "/damaged.avi";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=96x64:d=2", "-c:v",
                       "mpeg4", path})
                .exit_code,
            0);
  constexpr int kHole = 12'000;
  const std::vector<char> zeroes(3'000);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kHole);
  file.write(zeroes.data(), static_cast<std::streamsize>(zeroes.size()));
  file.close();
  const ProgramResult result =
      Conformance({"wrong", "--codec", "mpeg4", "--media", directory, "--json",
                   "--plugin-path", InstallWrong("nothing")});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const json report = Parsed(result);
  EXPECT_EQ(report["failed"], 0) << result.Describe();
  EXPECT_NE(result.output.find("cpu, the reference, fails on it as well"),
            std::string::npos)
      << result.Describe();
}

TEST(Conformance, JudgesNoBackendByWhatTheReferenceCannotDo) {
  const std::string directory = TemporaryDirectory() + "/theora";
  std::filesystem::create_directory(directory);
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=96x64:d=1", "-c:v",
                       "libtheora", directory + "/sound.ogv"})
                .exit_code,
            0);
  // Timestamps that go back come in another order with ffmpeg.
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=96x64:d=1", "-c:v",
                       "mpeg4", "-g", "1", "-bsf:v",
                       "setts=pts=if(eq(mod(N\\,7)\\,3)\\,PTS+200\\,PTS)",
                       directory + "/back.mkv"})
                .exit_code,
            0);
  const ProgramResult result =
      Conformance({"cpu", "--codec", "theora", "--media", directory, "--json"});
  const json report = Parsed(result);
  EXPECT_EQ(report["failed"], 0) << result.Describe();
  EXPECT_NE(result.output.find("nothing in theora tells"), std::string::npos)
      << result.Describe();
}

TEST(Conformance, SaysWhatIsWrongWithItsArguments) {
  const ProgramResult unknown = Conformance({"nobody"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("there is no backend nobody; there are: cpu"),
            std::string::npos)
      << unknown.Describe();
  const ProgramResult device = Conformance({"cpu", "--device", "npu"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_NE(device.errors.find("has no device npu; it has cpu"),
            std::string::npos)
      << device.Describe();
  EXPECT_EQ(Conformance({"cpu", "--codec", "h266"}).exit_code, 2);
  EXPECT_EQ(Conformance({"cpu", "--media", "/no/such"}).exit_code, 2);
}

}  // namespace
}  // namespace bulkhead::tests
