// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead conformance` names the clause for each of many backends that have
// one thing wrong. That it passes for sound ones, each bulkhead_backend_test
// shows.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/conformance_run.h"
#include "tests/conformance/wrong_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using nlohmann::json;

// In the names of the checks of sound, which no wrong backend fails.
constexpr const char* kAudio = "aac,mp3,flac,opus,vorbis,pcm_s16le";

struct Wrong {
  const char* name;
  const char* clause;
  // The checks that may find it have this in their names. Null allows all
  // checks, for a fault that has a run of its own.
  const char* check = nullptr;
  // Other clauses that it breaks too.
  std::vector<std::string> also = {};

  // Returns whether a check that failed has found this.
  bool IsFoundBy(const json& failed) const {
    const std::string name = failed["check"];
    const std::string named = failed["clause"];
    return (check == nullptr || name.find(check) != std::string::npos) &&
           (named == clause ||
            std::find(also.begin(), also.end(), named) != also.end());
  }
};

// One run of the command, with a backend that has one thing wrong, or several
// that do not hide each other.
struct WrongRun {
  std::vector<Wrong> wrongs;
  // The clips in which they show: mpeg4's are the quickest.
  const char* codecs = "mpeg4";
  // The checks that take longest and are not about these.
  std::string without = "leaks,damaged packets";
  // The faults are calls that take too long. Others have the usual deadlines,
  // which a busy machine does not miss.
  bool is_late = false;

  std::string Names() const {
    std::string names;
    for (const Wrong& wrong : wrongs) {
      names += (names.empty() ? "" : " ") + std::string(wrong.name);
    }
    return names;
  }
};

void PrintTo(const WrongRun& run, std::ostream* stream) {
  *stream << run.Names();
}

class WrongBackend : public testing::TestWithParam<WrongRun> {};

TEST_P(WrongBackend, FailsAndTheClauseIsNamed) {
  const WrongRun& run = GetParam();
  const std::string without = kAudio + ("," + run.without);
  std::vector<std::string> arguments = {
      "wrong",     "--codec", run.codecs,      "--json",
      "--without", without,   "--plugin-path", InstallWrong(run.Names())};
  if (run.is_late) {
    // bound: what a wrong backend has that hangs.
    for (const char* limit : {"open-ms=3000", "seek-ms=3000", "frame-ms=3000"})
      arguments.insert(arguments.end(), {"--limit", limit});
  }
  const ProgramResult result = RunConformance(arguments);
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  // The records of the checks are thrown away.
  EXPECT_EQ(result.output.find("crashes show"), std::string::npos)
      << result.Describe();
  const json report = ReportOf(result);
  std::set<std::string> found;
  for (const json& check : report["checks"]) {
    if (check["check"] == "leaks nothing in 1000 opens" &&
        run.without.starts_with("leaks")) {
      EXPECT_EQ(check["words"], "left out by --without leaks");
    }
    if (check["result"] != "failed") continue;
    EXPECT_NE(check["clause_says"], "") << check;
    EXPECT_NE(check["words"], "") << check;
    const auto wrong =
        std::find_if(run.wrongs.begin(), run.wrongs.end(),
                     [&](const Wrong& each) { return each.IsFoundBy(check); });
    EXPECT_NE(wrong, run.wrongs.end())
        << "charged with " << check["clause"] << ": " << result.Describe();
    if (wrong != run.wrongs.end() && check["clause"] == wrong->clause) {
      found.insert(wrong->name);
    }
  }
  for (const Wrong& wrong : run.wrongs) {
    EXPECT_TRUE(found.contains(wrong.name))
        << wrong.name << ": " << result.Describe();
  }
}

WrongRun Alone(const Wrong& wrong) { return {.wrongs = {wrong}}; }

INSTANTIATE_TEST_SUITE_P(
    Wrongs, WrongBackend,
    testing::Values(
        Alone({"no_table", "life-1"}),
        // It opens the first of its devices only.
        Alone({"unsteady_devices", "device-2", nullptr, {"device-4"}}),
        Alone({"declares_too_much", "device-4"}),
        Alone({"says_nothing", "result-2"}), Alone({"wrong_pts", "frame-6"}),
        Alone({"no_pts", "frame-6"}), Alone({"swapped_planes", "frame-10"}),
        // The bit shows only in some pictures, of a damaged clip as well.
        Alone({"wrong_picture", "frame-10", nullptr, {"frame-8"}}),
        Alone({"narrow_rows", "frame-3"}), Alone({"few_planes", "frame-2"}),
        Alone({"no_format", "frame-1"}),
        Alone({"ignores_flush", "flush-1", nullptr, {"flush-2"}}),
        Alone({"forgets_the_last", "send-3"}), Alone({"reorders", "receive-1"}),
        Alone({"ends_early", "end-1"}), Alone({"unknown_result", "result-1"}),
        Alone({"crashes", "life-5"}), Alone({"exits", "life-5"}),
        Alone({"loses_the_device", "life-5"}),
        Alone({"starts_a_program", "life-3"}),
        Alone({"differs_when_opened_again", "close-1"}),
        Alone({"wrong_color_space", "color-3"}),
        Alone({"wrong_color_range", "color-3"}),
        Alone({"exchanges_times", "frame-6"}),
        Alone({"crashes_in_close", "close-1"}),
        Alone({"fills_too_early", "receive-2"}),
        Alone({"overwrites_frames", "frame-5"}),
        WrongRun{.wrongs = {{"sleeps", "result-4"}}, .is_late = true},
        WrongRun{.wrongs = {{"never_ready", "again-3"}}, .is_late = true},
        // Each check that goes on after a flush waits for three deadlines.
        WrongRun{.wrongs = {{"is_late_after_flush", "result-4"}},
                 .without = "leaks,damaged packets,goes on",
                 .is_late = true},
        WrongRun{.wrongs = {{"asks_for_buffers_for_ever", "acquire-1"}},
                 .is_late = true},
        // Buffers that are kept show in many opens as well.
        WrongRun{
            .wrongs =
                {{"careless", "acquire-3", nullptr, {"result-2", "device-4"}}},
            .without = "damaged packets"},
        WrongRun{.wrongs = {{"starts_a_thread", "life-2", "starts no thread"},
                            {"declares_larger_pictures", "device-4",
                             "as large as it declares"},
                            {"wrong_duration", "frame-11", "fields"},
                            {"fails_at_a_second_end", "send-4", "one end"},
                            {"takes_any_option", "open-3", "unknown option"}}},
        WrongRun{
            .wrongs = {{"differs_after_a_crash", "life-4", "SIGKILL"},
                       {"wrong_aspect_ratio", "frame-11", "fields"},
                       {"hides_damage", "frame-8", "marks what is damaged"},
                       {"needs_buffers", "acquire-1", "own memory"},
                       {"leaks_a_little", "close-1", "leaks"}},
            .without = "no such check"},
        WrongRun{.wrongs = {{"wrong_interlaced", "frame-11", "fields"},
                            {"leaks_memory", "close-1", "leaks"}},
                 .without = "damaged packets"},
        WrongRun{
            .wrongs = {{"declares_other_formats", "device-4", "decodes mpeg4"},
                       {"leaks_mappings", "close-1", "leaks"}},
            .without = "damaged packets"},
        WrongRun{.wrongs = {{"leaks_threads", "close-1", "leaks"}},
                 .without = "damaged packets"},
        WrongRun{.wrongs = {{"clears_the_lowest_bit", "frame-10", "of 10 bits"},
                            {"wrong_last_column", "frame-10", "whole chroma"}},
                 .codecs = "h264"},
        // Streams of mpeg4 get one thread.
        WrongRun{
            .wrongs = {{"wrong_chroma_location", "color-2", "fields"},
                       {"differs_with_threads", "life-4", "threads"},
                       {"hides_errors", "frame-9", "marks what is damaged"}},
            .codecs = "h264"},
        WrongRun{.wrongs = {{"declares_more_formats", "device-4", "of 10 bits"},
                            {"wrong_color_transfer", "color-3", "fields"},
                            {"crashes_on_damage", "life-5", "damage"}},
                 .codecs = "h264",
                 .without = "leaks"}),
    [](const auto& row) {
      std::string name = row.param.Names();
      for (size_t at; (at = name.find(' ')) != std::string::npos;) {
        name.replace(at, 1, "_and_");
      }
      return name;
    });

// The same backend with nothing wrong is charged with nothing.
TEST(Conformance, PassesForTheBackendWithNothingWrong) {
  const ProgramResult result =
      RunConformance({"wrong", "--codec", "mpeg4,h264", "--json",
                      "--plugin-path", InstallWrong("nothing")});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(ReportOf(result)["failed"], 0) << result.Describe();
}

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
       .limit = kLimitOfConformance});
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
      RunConformance({"wrong", "--codec", "mpeg4", "--media", directory,
                      "--json", "--plugin-path", InstallWrong("nothing")});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const json report = ReportOf(result);
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
  const ProgramResult result = RunConformance(
      {"cpu", "--codec", "theora", "--media", directory, "--json"});
  const json report = ReportOf(result);
  EXPECT_EQ(report["failed"], 0) << result.Describe();
  EXPECT_NE(result.output.find("nothing in theora tells"), std::string::npos)
      << result.Describe();
}

TEST(Conformance, SaysWhatIsWrongWithItsArguments) {
  const ProgramResult unknown = RunConformance({"nobody"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("there is no backend nobody; there are: cpu"),
            std::string::npos)
      << unknown.Describe();
  const ProgramResult device = RunConformance({"cpu", "--device", "npu"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_NE(device.errors.find("has no device npu; it has cpu"),
            std::string::npos)
      << device.Describe();
  EXPECT_EQ(RunConformance({"cpu", "--codec", "h266"}).exit_code, 2);
  EXPECT_EQ(RunConformance({"cpu", "--media", "/no/such"}).exit_code, 2);
}

}  // namespace
}  // namespace bulkhead::tests
