// SPDX-License-Identifier: Apache-2.0
// Tests `bulkhead batch` with processes that share a directory, are killed, and
// meet damaged files, files that kill workers, and a disk that takes no more.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/chaos/chaos_installation.h"
#include "tests/cli/cli_fixture.h"
#include "tests/support/deadlines.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr milliseconds kSoon{30'000};
constexpr int kSound = 9;

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the contents of each file below `root`, with the number of workers
// that died set to zero.
std::map<std::string, std::string> TreeOf(const fs::path& root) {
  static const std::regex kRestarts("\"restarts\":[0-9]+");
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    tree[entry.path().lexically_relative(root)] =
        std::regex_replace(Contents(entry.path()), kRestarts, "\"restarts\":0");
  }
  return tree;
}

std::vector<json> LinesOf(const fs::path& manifest) {
  std::vector<json> lines;
  std::ifstream file(manifest);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

class Batch : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (clip().empty()) return;
    std::string path = TemporaryDirectory() + "/batch-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    root_ = path;
    fs::create_directory(root_ / "media");
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }

  std::string Out(const std::string& name) const { return root_ / name; }
  std::string Input(const std::string& name) const {
    return root_ / "media" / name;
  }

  // Makes clips of different lengths, one with noise inside, one that is no
  // media, and the name of one that does not exist.
  std::vector<std::string> MakeInputs() {
    std::vector<std::string> inputs;
    for (int i = 1; i <= kSound; ++i) {
      inputs.push_back(Input("clip" + std::to_string(i) + ".mp4"));
      EXPECT_EQ(RunFfmpeg({"-f", "lavfi", "-i",
                           "testsrc=size=160x120:rate=24:duration=" +
                               std::to_string(i % 3 + 1),
                           "-pix_fmt", "yuv420p", inputs.back()})
                    .exit_code,
                0);
    }
    std::string bytes = Contents(inputs.front());
    std::fill(bytes.begin() + static_cast<long>(bytes.size() / 2),
              bytes.begin() + static_cast<long>(bytes.size() * 3 / 4), '\xa5');
    inputs.push_back(Input("damaged.mp4"));
    std::ofstream(inputs.back(), std::ios::binary) << bytes;
    inputs.push_back(Input("garbage.mp4"));
    std::ofstream(inputs.back()) << "no media at all";
    inputs.push_back(Input("missing.mp4"));
    return inputs;
  }

  ProgramResult RunBatch(const std::vector<std::string>& inputs,
                         const std::vector<std::string>& options,
                         ProgramOptions program = {}) {
    std::vector<std::string> arguments{"batch", "--json"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Run(arguments, std::move(program));
  }

  static ProgramOptions With(const ChaosInstallation& installation) {
    return {.environment = {{"BULKHEAD_PATH", installation.path()}}};
  }

  fs::path root_;
};

TEST_F(Batch, ShardsAtOnceLeaveWhatOneRunLeaves) {
  const auto inputs = MakeInputs();
  const ProgramResult one = RunBatch(inputs, {"-o", Out("one")});
  EXPECT_EQ(one.exit_code, 3) << one.Describe();
  const auto lines = LinesOf(Out("one") + "/manifest.jsonl");
  ASSERT_THAT(lines, SizeIs(inputs.size()));
  for (int i = 0; i < kSound; ++i) {
    EXPECT_EQ(lines[i]["input"], inputs[i]);
    EXPECT_EQ(lines[i]["frames"], ((i + 1) % 3 + 1) * 24);
    EXPECT_EQ(lines[i]["error"], nullptr);
    EXPECT_EQ(
        Contents(Out("one") + "/" + lines[i]["output"].get<std::string>()),
        Run({"decode", inputs[i]}).output);
  }
  EXPECT_EQ(lines[kSound]["error"]["code"], "kBadInput");
  EXPECT_THAT(lines[kSound]["damage"], Not(SizeIs(0)));
  EXPECT_EQ(lines[kSound]["output"], nullptr);
  EXPECT_EQ(lines[kSound + 1]["error"]["code"], "kBadInput");
  EXPECT_EQ(lines[kSound + 2]["error"]["code"], "kNotFound");

  // Another order and a repetition make no difference.
  std::string list;
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
    list += *input + "\n" + *input + "\n";
  }
  const std::string list_path = Write("list", list);
  std::vector<std::thread> shards;
  std::vector<ProgramResult> results(3);
  for (size_t i = 0; i < results.size(); ++i) {
    shards.emplace_back([&, i] {
      results[i] = RunBatch({}, {"--files-from", list_path, "--shard",
                                 std::to_string(i + 1) + "/3", "--jobs", "2",
                                 "-o", Out("shards")});
    });
  }
  for (std::thread& shard : shards) shard.join();
  for (const ProgramResult& result : results) {
    EXPECT_EQ(json::parse(result.output)["files"], inputs.size() / 3)
        << result.Describe();
  }
  EXPECT_EQ(TreeOf(Out("shards")), TreeOf(Out("one")));
}

TEST_F(Batch, ASecondRunDoesOnlyWhatIsMissing) {
  const auto inputs = MakeInputs();
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"-o", Out("out")});
    const ProgramResult result = RunBatch(inputs, options);
    EXPECT_EQ(result.exit_code, 3) << result.Describe();
    return json::parse(result.output)["from_earlier_runs"].get<int>();
  };
  const int readable = static_cast<int>(inputs.size()) - 1;
  EXPECT_EQ(run({}), 0);
  const auto tree = TreeOf(Out("out"));
  EXPECT_EQ(run({}), readable) << "what is missing is looked for again";
  const ProgramResult again = RunBatch(inputs, {"-o", Out("out")});
  const json told = json::parse(again.output)["failures"];
  ASSERT_THAT(told, SizeIs(3)) << "two of an earlier run";
  EXPECT_EQ(told[0]["input"], inputs[kSound]);
  EXPECT_EQ(told[0]["from_earlier_run"], true);
  EXPECT_EQ(told[2]["from_earlier_run"], false);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(again.errors, HasSubstr("in an earlier run: " +
                                        told[i]["message"].get<std::string>()));
  }
  fs::remove(Out("out") + "/clip1.mp4.framemd5");
  fs::remove(Out("out") + "/.batch/manifest/clip2.mp4.framemd5.json");
  fs::resize_file(Out("out") + "/clip3.mp4.framemd5", 0);
  EXPECT_EQ(run({}), readable - 3);
  EXPECT_EQ(TreeOf(Out("out")), tree);

  fs::last_write_time(inputs[2], fs::file_time_type::clock::now());
  EXPECT_EQ(run({}), readable - 1);
  EXPECT_EQ(run({"--on-corrupt", "skip"}), 0);
  EXPECT_TRUE(fs::exists(Out("out") + "/damaged.mp4.framemd5"));
  EXPECT_EQ(run({}), 0);
  EXPECT_FALSE(fs::exists(Out("out") + "/damaged.mp4.framemd5"))
      << "an output without a line about it";
}

// Kills the application, bulkheadd, or another process of it, at a moment that
// the number of results shows, until there are no more.
TEST_F(Batch, KilledRunsGoOnWhereTheyEnded) {
  const auto inputs = MakeInputs();
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  RunBatch(inputs, {"-o", Out("one")});
  const fs::path manifest = Out("killed") + "/.batch/manifest";
  const auto results = [&] {
    std::error_code none;
    return std::distance(fs::directory_iterator(manifest, none), {});
  };
  std::vector<std::string> command{"env",
                                   "BULKHEAD_LIBEXEC_DIR=" + LibexecDirectory(),
                                   PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                   "batch",
                                   "--jobs",
                                   "2",
                                   "-o",
                                   Out("killed")};
  command.insert(command.end(), inputs.begin(), inputs.end());

  std::mt19937 random(7);
  int kills = 0;
  for (int round = 0; round < 9; ++round) {
    const auto program = RunningProgram::Start(command);
    ASSERT_NE(program, nullptr);
    const ProcessWatch application(program->pid());
    const auto wait_for = [&](long count) {
      const auto deadline = std::chrono::steady_clock::now() + kSoon;
      // bound: the pause between two looks.
      while (results() < count && !application.AwaitEnd(milliseconds(1))) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      }
    };
    wait_for(results() + static_cast<long>(random() % 2));
    if (round % 3 != 0) {
      const auto processes = DescendantsOf(getpid());
      const ProcessWatch victim(processes[random() % processes.size()]);
      if (victim.Signal(SIGKILL)) ++kills;
      wait_for(results() + 1);
    }
    if (application.Signal(SIGKILL)) ++kills;
    ASSERT_TRUE(application.AwaitEnd(kSoon));
  }
  EXPECT_GT(kills, 4) << "the runs were over before they could be killed";
  const ProgramResult last = RunBatch(inputs, {"-o", Out("killed")});
  EXPECT_EQ(last.exit_code, 3) << last.Describe();
  EXPECT_GT(json::parse(last.output)["from_earlier_runs"], 0);
  EXPECT_EQ(TreeOf(Out("killed")), TreeOf(Out("one")));
}

TEST_F(Batch, ASignalEndsTheRunAndLeavesNothingHalf) {
  const std::string script = R"(
      "$CLI" batch "$CLIP" --resize 2000x2000 --format rawvideo -o "$OUT" &
      until [ -s "$OUT"/.batch/unfinished/*/0 ]; do :; done
      kill -TERM $!
      wait $!
      echo $?
      find "$OUT" -type f)";
  const ProgramResult result = RunProgram(
      {"sh", "-c", script},
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"CLI", PathFromEnvironment("BULKHEAD_TEST_CLI")},
                       {"CLIP", clip()},
                       {"OUT", Out("out")}}});
  EXPECT_EQ(result.output, "130\n") << result.Describe();
  EXPECT_THAT(result.errors, HasSubstr("does what is missing"));
}

TEST_F(Batch, AFileThatKillsWorkersIsTriedAndNamedOnceForAll) {
  // The first second of a clip is without the picture on which workers die.
  const ChaosInstallation installation("at=picture:30720 do=segfault");
  const std::string sound = Input("sound.mp4");
  ASSERT_EQ(RunFfmpeg({"-t", "1", "-i", clip(), "-c", "copy", sound}).exit_code,
            0);
  std::vector<std::string> inputs{sound};
  for (const char* name : {"a.mp4", "b.mp4", "c.mp4"}) {
    fs::copy_file(clip(), Input(name));
    inputs.push_back(Input(name));
  }
  const auto shard = [&](const std::string& which) {
    const ProgramResult result = RunBatch(inputs,
                                          {"--device", "chaos", "--jobs", "1",
                                           "--shard", which, "-o", Out("out")},
                                          With(installation));
    EXPECT_EQ(result.exit_code, 3) << result.Describe();
    return result;
  };
  const ProgramResult first = shard("1/2");  // a, c
  const json told = json::parse(first.output);
  ASSERT_THAT(told["poison"], SizeIs(1));
  EXPECT_EQ(told["failures"][0]["input"], Input("a.mp4"));
  EXPECT_THAT(told["failures"], SizeIs(1));
  EXPECT_EQ(told["copies_of_poison"], 1);
  EXPECT_GT(told["restarts"], 0);
  EXPECT_THAT(first.errors, Not(HasSubstr("c.mp4")));
  EXPECT_FALSE(fs::exists(Out("out") + "/manifest.jsonl"));

  // Workers would live now, but no contents are tried again.
  installation.SetFaults("");
  const ProgramResult second = shard("2/2");  // b, sound
  const json counted = json::parse(second.output);
  EXPECT_EQ(counted["poison"], json::array());
  EXPECT_EQ(counted["copies_of_poison"], 1);
  EXPECT_EQ(counted["results"], 2);
  const auto lines = LinesOf(Out("out") + "/manifest.jsonl");
  ASSERT_THAT(lines, SizeIs(4));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lines[i]["error"]["code"], "kPoisonedInput");
    EXPECT_EQ(lines[i]["sha256"], told["poison"][0]);
    EXPECT_EQ(lines[i]["restarts"], i == 0 ? told["restarts"] : json(0));
    EXPECT_THAT(lines[i]["error"]["message"].get<std::string>(),
                HasSubstr(lines[i]["input"].get<std::string>()));
  }
  EXPECT_EQ(lines[3]["error"], nullptr);
  const json whole = json::parse(shard("1/1").output);
  EXPECT_EQ(whole["from_earlier_runs"], 4);
  EXPECT_EQ(whole["poison"], told["poison"]);
  EXPECT_EQ(whole["copies_of_poison"], 2);
  EXPECT_EQ(whole["failures"][0]["input"], Input("a.mp4"));

  // Another device is another question.
  const ProgramResult cpu = RunBatch(inputs, {"-o", Out("out")});
  EXPECT_EQ(cpu.exit_code, 0) << cpu.Describe();
}

TEST_F(Batch, WhatTheBackendLosesIsTriedAgainByTheNextRun) {
  const ChaosInstallation installation("at=picture:0 do=hang");
  const std::string ms = "-ms=" + std::to_string(kShort.count());
  const std::vector<std::string> options{
      "--device", "chaos",      "--limit", "open" + ms,
      "--limit",  "frame" + ms, "--limit", "kills-per-position=1",
      "-o",       Out("out")};
  const ProgramResult lost = RunBatch({clip()}, options, With(installation));
  EXPECT_EQ(lost.exit_code, 4) << lost.Describe();
  const json facts = json::parse(lost.output);
  EXPECT_EQ(facts["results"], 0);
  ASSERT_THAT(facts["lost"], SizeIs(1));
  EXPECT_EQ(facts["lost"][0]["code"], "kDeadlineExceeded");
  EXPECT_EQ(Contents(Out("out") + "/manifest.jsonl"), "");

  installation.SetFaults("");
  const ProgramResult found = RunBatch({clip()}, options, With(installation));
  EXPECT_EQ(found.exit_code, 0) << found.Describe();
  EXPECT_THAT(LinesOf(Out("out") + "/manifest.jsonl"), SizeIs(1));
}

TEST_F(Batch, AnOutputThatCannotBeWrittenEndsTheRun) {
  const std::string batch =
      R"("$CLI" batch "$CLIP" "$CLIP"2 --jobs 1 --format rawvideo --json )"
      R"(-o "$OUT")";
  fs::copy_file(clip(), Input("clip"));
  fs::copy_file(clip(), Input("clip2"));
  struct Row {
    std::vector<std::string> shell;
    std::string before;
    int exit_code;
    std::string cause;
  };
  const std::string own_user = geteuid() == 0 ? "-m" : "-Urm";
  for (const Row& row :
       {Row{{"sh"}, "ulimit -f 16384", 4, "File too large"},
        Row{{"unshare", own_user, "sh"},
            R"(mkdir "$OUT" && mount -t tmpfs -o size=8m none "$OUT")",
            2,
            "No space left on device"}}) {
    std::vector<std::string> command = row.shell;
    command.insert(command.end(), {"-c", row.before + "\n" + batch +
                                             "\nstatus=$?\n"
                                             "find \"$OUT\" -type f >&2\n"
                                             "exit $status"});
    const ProgramResult full = RunProgram(
        command,
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                         {"CLI", PathFromEnvironment("BULKHEAD_TEST_CLI")},
                         {"CLIP", Input("clip")},
                         {"OUT", Out("out")}}});
    EXPECT_EQ(full.exit_code, row.exit_code) << full.Describe();
    EXPECT_THAT(full.errors,
                AllOf(HasSubstr(row.cause), HasSubstr("2 have no result"),
                      Not(HasSubstr("\n" + Out("out")))));
    EXPECT_EQ(json::parse(full.output)["lost"], json::array());
    fs::remove_all(Out("out"));
  }
  ExpectFailure({"batch", clip(), "-o", Write("file", "") + "/out"}, 2,
                "cannot create the directory");
}

TEST_F(Batch, FailuresOfEarlierRunsAreShownUpToANumber) {
  std::vector<std::string> inputs;
  for (int i = 10; i < 25; ++i) {
    inputs.push_back(Input("garbage" + std::to_string(i)));
    std::ofstream(inputs.back()) << "no media at all";
  }
  RunBatch(inputs, {"-o", Out("out")});
  const ProgramResult again = RunBatch(inputs, {"-o", Out("out")});
  EXPECT_THAT(json::parse(again.output)["failures"], SizeIs(15));
  EXPECT_THAT(again.errors,
              AllOf(HasSubstr("garbage19"), Not(HasSubstr("garbage20")),
                    HasSubstr("and 5 more in earlier runs")));
}

// Whoever shares the directory may write records there.
TEST_F(Batch, RecordsOfOtherKindsAreNotBelieved) {
  const std::string input = Input("garbage");
  std::ofstream(input) << "no media at all";
  const auto run = [&] {
    const ProgramResult result = RunBatch({input}, {"-o", Out("out")});
    EXPECT_EQ(result.exit_code, 3) << result.Describe();
    return json::parse(result.output)["failures"][0]["message"];
  };
  const json message = run();
  // Options are compared with the order of their keys.
  using Record = nlohmann::ordered_json;
  const Record honest = Record::parse(Contents(Out("out") + "/manifest.jsonl"));
  const fs::path batch = Out("out") + "/.batch";
  const fs::path poison =
      batch / "poison" / (honest["sha256"].get<std::string>() + ".json");
  const fs::path record = fs::directory_iterator(batch / "manifest")->path();
  const Record deadly{{"code", "kPoisonedInput"}, {"message", "it kills"}};
  const std::pair<const char*, Record> values[] = {
      {"input", 1},
      {"sha256", Record::object()},
      {"error", 3},
      {"error", {{"code", 7}, {"message", "it kills"}}},
      {"error", {{"code", "kPoisonedInput"}, {"message", Record::array()}}},
      {"damage", 5},
      {"damage", Record::array({1})},
      {"restarts", "many"},
      {"frames", -1},
  };
  for (const auto& [key, value] : values) {
    Record hostile = honest;
    hostile["error"] = deadly;
    hostile[key] = value;
    std::ofstream(record) << hostile;
    std::ofstream(poison) << hostile;
    ExpectOutcome(Escape(84), "a record of other kinds: " + hostile.dump(),
                  message.dump(), run().dump());
  }
  Record nameless = honest;
  nameless["error"] = deadly;
  nameless["input"] = "";
  fs::remove(record);
  std::ofstream(poison) << nameless;
  run();
  const auto told = Record::parse(Contents(Out("out") + "/manifest.jsonl"));
  EXPECT_EQ(told["error"]["message"], "it kills");
}

// Whoever may write to the directory may put something else in the place of a
// record.
TEST_F(Batch, WhatIsNoRecordNeitherBlocksNorEndsIt) {
  const std::string input = Input("garbage");
  std::ofstream(input) << "no media at all";
  const auto run = [&] {
    return RunBatch({input}, {"-o", Out("out")}).exit_code;
  };
  ASSERT_EQ(run(), 3);
  const json honest = json::parse(Contents(Out("out") + "/manifest.jsonl"));
  const fs::path batch = Out("out") + "/.batch";
  const fs::path places[] = {
      fs::directory_iterator(batch / "manifest")->path(),
      batch / "poison" / (honest["sha256"].get<std::string>() + ".json")};
  const std::pair<const char*, void (*)(const fs::path&)> kinds[] = {
      {"a FIFO", [](const fs::path& at) { mkfifo(at.c_str(), 0600); }},
      {"a link to /dev/zero",
       [](const fs::path& at) { fs::create_symlink("/dev/zero", at); }},
      {"3 GB",
       [](const fs::path& at) {
         std::ofstream(at).close();
         fs::resize_file(at, uintmax_t{3} << 30);
       }},
      {"a directory", [](const fs::path& at) { fs::create_directory(at); }},
  };
  for (const auto& [what, make] : kinds) {
    for (const fs::path& place : places) {
      fs::remove_all(place);
      make(place);
      ASSERT_TRUE(fs::exists(fs::symlink_status(place)));
    }
    ExpectOutcome(Escape(84), std::string("in place of a record: ") + what,
                  "exit 3", "exit " + std::to_string(run()));
  }
}

TEST_F(Batch, OnlyThoseWhoMayWriteTheResultsCanHoldTheLock) {
  const std::string input = Input("clip");
  fs::create_hard_link(clip(), input);
  for (const fs::perms others : {fs::perms::none, fs::perms::group_write}) {
    RunBatch({input}, {"-o", Out("out")});
    fs::permissions(Out("out") + "/.batch", fs::perms(0755) | others);
    RunBatch({input}, {"-o", Out("out")});
    const fs::perms mode =
        fs::status(Out("out") + "/.batch/lock").permissions();
    ExpectOutcome(Escape(84),
                  "the lock of a batch, directory " +
                      std::to_string(static_cast<int>(others)),
                  std::to_string(0200 | static_cast<int>(others)),
                  std::to_string(static_cast<int>(mode)));
  }
}

TEST_F(Batch, ANameThatIsTooLongIsAnErrorOfItsFile) {
  // A record adds ".framemd5.json".
  const std::string fitting = Input(std::string(241, 'n'));
  const std::string longer = Input(std::string(242, 'n'));
  for (const std::string& input : {fitting, longer}) {
    fs::create_hard_link(clip(), input);
  }
  for (const char* shard : {"1/2", "2/2", "1/1"}) {
    const ProgramResult result =
        RunBatch({fitting, longer}, {"--shard", shard, "-o", Out("out")});
    EXPECT_EQ(result.exit_code, shard == std::string("1/2") ? 0 : 3)
        << result.Describe();
    const auto facts = json::parse(result.output);
    EXPECT_EQ(facts["results"], facts["files"]) << shard;
    if (facts["failed"] == 0) continue;
    EXPECT_THAT(result.errors, HasSubstr("rename the file, to 241 bytes"));
    EXPECT_EQ(facts["failures"][0]["input"], longer) << shard;
    const auto lines = LinesOf(Out("out") + "/manifest.jsonl");
    ASSERT_THAT(lines, SizeIs(2)) << "by the last shard and by a whole run";
    EXPECT_EQ(lines[0]["error"], nullptr);
    EXPECT_EQ(lines[1]["error"]["code"], "kBadInput");
  }
}

TEST_F(Batch, MistakesAreNoResultsOfFiles) {
  fs::create_directory(root_ / "media" / "other");
  const std::string a = Input("clip.mp4");
  const std::string b = Input("other/clip.mp4");
  fs::copy_file(clip(), a);
  fs::copy_file(clip(), b);
  ExpectFailure({"batch", a, b, "-o", Out("out")}, 2, "--relative-to");
  ExpectFailure({"batch", a, "--shard", "4/3", "-o", Out("out")}, 2, "3/8");
  ExpectFailure({"batch", "-o", Out("out")}, 2, "--files-from");
  ExpectFailure({"batch", a, "--fps", "fast", "-o", Out("out")}, 2, "29.97");
  EXPECT_FALSE(fs::exists(Out("out")));
  for (const char* option : {"--device", "--on-failure"}) {
    ExpectFailure({"batch", a, option, "nonesuch", "-o", Out("out")}, 2,
                  "nonesuch");
    ExpectFailure({"batch", a, option, "nonesuch", "-o", Out("out")}, 2,
                  "1 have no result: an error has ended the run");
    EXPECT_THAT(TreeOf(Out("out")), SizeIs(0));
  }

  const ProgramResult kept =
      RunBatch({a, b}, {"--relative-to", root_ / "media", "--format", "png",
                        "--at", "0,-1", "-o", Out("out")});
  EXPECT_EQ(kept.exit_code, 0) << kept.Describe();
  for (const char* name : {"clip.mp4.png/000000.png", "clip.mp4.png/000119.png",
                           "other/clip.mp4.png/000119.png"}) {
    EXPECT_TRUE(fs::exists(Out("out") + "/" + name)) << name;
  }
}

}  // namespace
}  // namespace bulkhead::tests
