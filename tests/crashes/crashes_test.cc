// SPDX-License-Identifier: Apache-2.0
//
// Each end of a backend's process is recorded. An application and an operator
// can read the record.

#include "bulkhead/crashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/crashes/crash_test.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Kind = ExitReport::Kind;
using Asked = Crash::Request::Kind;

// The time in which the end of a process is on record.
constexpr std::chrono::milliseconds kRecorded{60'000};

using Crashes = CrashTest;

TEST_F(Crashes, ACrashIsOnRecordWithAllThatIsKnown) {
  const auto host = NewHost();
  std::vector<Recovery> recoveries;
  VideoOptions options =
      installation_.Stream("at=packet:7 do=segfault lives=1");
  const auto caller = std::this_thread::get_id();
  options.recovery_observer = [&](const Recovery& recovery) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    recoveries.push_back(recovery);
  };
  EXPECT_TRUE(Play(*host, clip_, options).ok());
  ASSERT_EQ(Records().size(), 1u);
  const Crash crash = Records()[0];
  EXPECT_EQ(crash.number, 1u);
  EXPECT_EQ(crash.application.pid, ::getpid());
  EXPECT_THAT(crash.application.program, HasSubstr("crashes_test"));
  EXPECT_EQ(crash.backend.name, "chaos");
  EXPECT_EQ(crash.backend.distribution, "bulkhead-chaos");
  EXPECT_EQ(crash.backend.version, "0.1.0");
  EXPECT_EQ(crash.backend.bytes,
            static_cast<int64_t>(fs::file_size(crash.backend.file)));
  EXPECT_THAT(crash.backend.hash, HasSubstr("sha256="));
  EXPECT_EQ(crash.device, "chaos:0");
  EXPECT_EQ(crash.incarnation, 1u);
  EXPECT_EQ(crash.process, "worker");
  EXPECT_EQ(crash.blamed, "input");
  EXPECT_EQ(crash.end.kind, Kind::kSignaled);
  EXPECT_EQ(crash.end.value, SIGSEGV);
  EXPECT_THAT(crash.end.claimed_backtrace,
              Contains(HasSubstr("libbulkhead_chaos.so")));
  EXPECT_THAT(crash.end.claimed_backtrace,
              Contains(HasSubstr("(__libc_start_main+")));
  EXPECT_THAT(crash.end.position, HasSubstr(clip_ + ", at frame "));
  ASSERT_TRUE(crash.input);
  EXPECT_EQ(crash.input->path, clip_);
  EXPECT_EQ(crash.input->bytes, static_cast<int64_t>(fs::file_size(clip_)));
  EXPECT_EQ(crash.request.kind, Asked::kNext);
  EXPECT_EQ(crash.request.backend_options, options.backend_options);
  EXPECT_EQ(crash.last_message, "play from the beginning");
  EXPECT_EQ(crash.attempt, 1u);
  EXPECT_EQ(crash.outcome, "recovered");

  ASSERT_EQ(recoveries.size(), 1u);
  EXPECT_EQ(recoveries[0].path, clip_);
  EXPECT_EQ(recoveries[0].device, "chaos:0");
  EXPECT_EQ(recoveries[0].cause.crash, 1u);
  EXPECT_EQ(recoveries[0].cause.position, crash.end.position);
  EXPECT_EQ(recoveries[0].attempts, 1u);
  EXPECT_GT(recoveries[0].took.count(), 0);
}

// A hostile backend can write a stream's bytes wherever a crash record takes
// its words from, and operators send records to the vendor.
TEST_F(Crashes, WhatWasWrittenWithMediaIsLeftOutOfWhatTheVendorGets) {
  installation_.SetFaults("at=load do=say");
  const auto host = NewHost();
  EXPECT_TRUE(Play(*host, clip_,
                   installation_.Stream("at=packet:0 do=say\n"
                                        "at=packet:7 do=segfault lives=1"))
                  .ok());
  ASSERT_EQ(Records().size(), 1u);
  std::string vendors;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"crashes", "show", "1", "--json"}, {"crashes", "--json"}}) {
    const ProgramResult json = Cli(arguments);
    EXPECT_EQ(json.exit_code, 0) << json.Describe();
    EXPECT_THAT(
        json.output,
        AllOf(HasSubstr("chaos says that it runs"), Not(HasSubstr("chaos got")),
              // Its own account of the crash could be anything too.
              HasSubstr("\"claimed\": null"),
              HasSubstr("\"media_log\": null")));
    vendors += json.output;
  }
  const ProgramResult whole =
      Cli({"crashes", "show", "1", "--json", "--with-media-text"});
  EXPECT_EQ(whole.exit_code, 0) << whole.Describe();
  EXPECT_THAT(whole.output, AllOf(HasSubstr("chaos says that it runs"),
                                  HasSubstr("\"claimed\": {")));
  // The bytes of the packet are the file's.
  const size_t at = whole.output.find("chaos got ");
  ASSERT_NE(at, std::string::npos) << whole.output;
  const std::string hex = whole.output.substr(at + 10, 32);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  std::ifstream file(clip_, std::ios::binary);
  const std::string media{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(media.find(bytes), std::string::npos) << hex;
  EXPECT_EQ(vendors.find(hex), std::string::npos);

  const ProgramResult shown = Cli({"crashes", "show", "1"});
  EXPECT_THAT(
      shown.output,
      ContainsRegex("since it had media[^\n]*may contain parts of the media"
                    "[^\n]*:\n(  chaos says[^\n]*\n)*  chaos got "));
}

// Each worker with media has a stderr of its own.
TEST_F(Crashes, RecordHasNoLinesOfAnotherStream) {
  const auto host = NewHost();
  EXPECT_TRUE(
      Play(*host, clip_, installation_.Stream("at=packet:0 do=say")).ok());
  EXPECT_TRUE(Play(*host, clip_,
                   installation_.Stream("at=packet:3 do=say\n"
                                        "at=packet:7 do=segfault lives=1"))
                  .ok());
  ASSERT_EQ(Records().size(), 1u);
  const ProgramResult whole =
      Cli({"crashes", "show", "1", "--json", "--with-media-text"});
  EXPECT_EQ(whole.exit_code, 0) << whole.Describe();
  const std::string own = "chaos got ";
  const size_t first = whole.output.find(own);
  ASSERT_NE(first, std::string::npos) << whole.output;
  EXPECT_EQ(whole.output.find(own, first + 1), std::string::npos)
      << whole.output;
}

TEST_F(Crashes, ARecordThatCannotBeWrittenIsNotLostInSilence) {
  // No directory can be made below a file.
  state_ = clip_ + "/state";
  const auto host = NewHost();
  const Status status =
      Play(*host, clip_, installation_.Stream("at=packet:7 do=segfault"));
  EXPECT_EQ(status.code(), Code::kPoisonedInput);
  EXPECT_THAT(status.message(),
              HasSubstr("no record of it could be kept: the state directory " +
                        state_ + " does not count: Not a directory"));
  std::string told;
  const BackendReport report = host->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    told += ToString(diagnostic) + "\n";
  }
  EXPECT_THAT(told, AllOf(HasSubstr("3 records of crashes are lost"),
                          HasSubstr(state_)));
  std::string events;
  const std::vector<Event> recent = RecentEvents(::getpid()).value();
  for (const Event& event : recent) events += event.text + "\n";
  EXPECT_THAT(events, HasSubstr("no record of it could be kept: "));
}

TEST_F(Crashes, AStateDirectoryThatTakesNoRecordIsToldBeforeItIsNeeded) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  fs::create_directory(state_);
  const auto list = [&](const std::string& state, const std::string& prepare) {
    return RunProgram({"unshare", "--mount", "bash", "-c",
                       "mount -t tmpfs -o mode=700,size=64k none \"$1\" && " +
                           prepare + " && exec \"$0\" crashes",
                       PathFromEnvironment("BULKHEAD_TEST_CLI"), state_},
                      {.environment = {{"BULKHEAD_STATE_DIR", state}}});
  };
  const std::string read_only = "mount -o remount,ro \"$1\"";
  for (const auto& [state, prepare, why] :
       {std::tuple{state_, "mkdir -m 700 \"$1/crashes\" && " + read_only,
                   "Read-only file system"},
        std::tuple{state_, read_only, "Read-only file system"},
        std::tuple{state_ + "/in/it", read_only, "Read-only file system"},
        std::tuple{state_,
                   std::string("{ head -c 1M /dev/zero > \"$1/full\" "
                               "2>/dev/null || true; }"),
                   "No space left on device"}}) {
    const ProgramResult listed = list(state, prepare);
    EXPECT_EQ(listed.exit_code, 0) << listed.Describe();
    EXPECT_THAT(listed.errors, AllOf(HasSubstr("no record can be kept: cannot "
                                               "write to " +
                                               state_),
                                     HasSubstr(why)));
  }
  EXPECT_THAT(list("", "true").errors,
              HasSubstr("no record is kept: there is no state directory"));
}

TEST_F(Crashes, AMissedDeadlineIsOnRecordWithItsStep) {
  HostOptions options = Recording(installation_.options());
  options.deadlines.seek = kShort;
  options.limits.attempts_per_position = 1;
  const auto host = Host::Create(options).value();
  VideoDecoder video =
      host->OpenVideo(clip_, installation_.Stream("at=packet:20 do=hang"))
          .value();
  const auto frame = video.FrameAt(25);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), Code::kDeadlineExceeded);
  ASSERT_EQ(Records().size(), 1u);
  const Crash crash = Records()[0];
  EXPECT_EQ(crash.end.kind, Kind::kDeadline);
  EXPECT_EQ(crash.cause,
            "it took too long to decode the next frame, more than the " +
                std::to_string(kShort.count()) +
                " ms of the deadline seek (--limit seek-ms=N)");
  EXPECT_EQ(crash.request.kind, Asked::kFrameAt);
  EXPECT_EQ(crash.request.frame, 25u);
  EXPECT_EQ(crash.request.deadline_ms, kShort.count());
  EXPECT_EQ(crash.outcome, "kDeadlineExceeded");
  const ProgramResult again = Cli({"replay", "1"});
  EXPECT_EQ(again.exit_code, 4) << again.Describe();
  EXPECT_THAT(again.output, HasSubstr("in the same way"));
}

TEST_F(Crashes, AViolationIsOnRecordWithWhatWasWrong) {
  const LyingInstallation installation({"open_other_answer"});
  const auto host = Host::Create(Recording(installation.options())).value();
  const auto video =
      host->OpenVideo(installation.media(), {.device = "open_other_answer"});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kBackendMisbehaved);
  ASSERT_EQ(Records().size(), 1u);
  const Crash crash = Records()[0];
  EXPECT_EQ(crash.end.kind, Kind::kProtocolViolation);
  EXPECT_THAT(crash.cause, HasSubstr("it broke the protocol: "));
  EXPECT_EQ(crash.blamed, "backend");
  EXPECT_EQ(crash.outcome, "kBackendMisbehaved");
}

TEST_F(Crashes, AZygoteThatDiesWhileLoadingIsOnRecord) {
  installation_.SetFaults("at=load do=segfault");
  const auto host = NewHost();
  const Status status = host->Prewarm("chaos");
  EXPECT_THAT(status.message(), HasSubstr("see `bulkhead crashes show 1`"));
  ASSERT_EQ(Records().size(), 1u);
  const Crash crash = Records()[0];
  EXPECT_EQ(crash.process, "zygote");
  EXPECT_EQ(crash.blamed, "start");
  EXPECT_EQ(crash.end.kind, Kind::kSignaled);
  EXPECT_EQ(crash.end.value, SIGSEGV);
  EXPECT_EQ(crash.request.kind, Asked::kStart);
  EXPECT_FALSE(crash.input);
  EXPECT_EQ(Cli({"replay", "1"}).exit_code, 4);
  installation_.SetFaults("");
  const ProgramResult well = Cli({"replay", "1"});
  EXPECT_EQ(well.exit_code, 0) << well.Describe();
}

// What a life with media has left somewhere, the next could write to its log
// before it has media.
TEST_F(Crashes, ALifeAfterOneWithMediaShowsVendorsNoLog) {
  installation_.SetFaults("at=load do=say");
  const auto host = NewHost();
  const auto zygote = [&] {
    const BackendReport report = host->Backends().value();
    const auto chaos =
        std::ranges::find(report.backends, "chaos", &BackendInfo::name);
    return chaos == report.backends.end() ? 0 : chaos->zygote_pid;
  };
  EXPECT_TRUE(Play(*host, clip_, installation_.Stream()).ok());
  const pid_t first = zygote();
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  pid_t second = 0;
  ASSERT_TRUE(Await(
      [&] {
        if (!host->Prewarm("chaos").ok()) return false;
        second = zygote();
        return second > 0 && second != first;
      },
      kRecorded));
  ::kill(second, SIGSEGV);
  // Only the second life left a record: others sent the first one a SIGKILL.
  ASSERT_TRUE(Await([this] { return !Records().empty(); }, kRecorded));
  EXPECT_EQ(Records()[0].process, "zygote");
  const ProgramResult vendors = Cli({"crashes", "show", "1", "--json"});
  EXPECT_EQ(vendors.exit_code, 0) << vendors.Describe();
  const bool says =
      vendors.output.find("chaos says that it runs") != std::string::npos;
  ExpectOutcome(Escape(76), "log_of_next_life", "nothing",
                says ? vendors.output : "nothing");
  const ProgramResult whole =
      Cli({"crashes", "show", "1", "--json", "--with-media-text"});
  EXPECT_THAT(whole.output, HasSubstr("chaos says that it runs"));
}

TEST_F(Crashes, ACountOfDevicesThatDiesBlamesADeviceOnlyIfThereIsOne) {
  installation_.SetFaults("at=probe do=segfault");
  EXPECT_FALSE(NewHost()->Prewarm("chaos").ok());
  installation_.GrantADevice();
  EXPECT_FALSE(NewHost()->Prewarm("chaos").ok());
  const std::vector<Crash> records = Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].blamed, "start");
  EXPECT_EQ(records[1].blamed, "device");
  for (const Crash& crash : records) {
    EXPECT_EQ(crash.process, "worker");
    EXPECT_EQ(crash.end.value, SIGSEGV);
    EXPECT_THAT(crash.end.claimed_backtrace,
                Contains(ContainsRegex("^libbulkhead_chaos.so\\+0x[0-9a-f]+ "
                                       "\\(chaos_enumerate_devices\\+0x")));
  }
  EXPECT_THAT(Cli({"crashes", "show", "1"}).output,
              HasSubstr("(chaos_enumerate_devices+0x"));
}

TEST_F(Crashes, WhatIsNobodysFaultAndWhatIsClosedIsNoCrash) {
  const auto host = NewHost();
  uint32_t recovered = 0;
  VideoOptions options = installation_.Stream();
  options.recovery_observer = [&](const Recovery& recovery) {
    EXPECT_EQ(recovery.cause.crash, 0u);
    ++recovered;
  };
  {
    VideoDecoder video = host->OpenVideo(clip_, options).value();
    ASSERT_TRUE(video.Next().value());
    ::kill(video.worker_pid(), SIGKILL);
    while (video.Next().value()) {
    }
  }
  EXPECT_EQ(recovered, 1u);
  EXPECT_TRUE(Records().empty());
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(Crashes, AStormIsCountedInsteadOfWritten) {
  auto host = NewHost();
  for (int i = 0; i < 15; ++i) {
    // Another input each time, since the same one would be refused.
    const std::string copy = TemporaryDirectory() + "/copy.webm";
    fs::remove(copy);
    fs::copy_file(clip_, copy);
    EXPECT_FALSE(
        Play(*host, copy, installation_.Stream("at=packet:0 do=exit:7")).ok());
    fs::rename(copy, copy + std::to_string(i));
  }
  const size_t recorded = Records().size();
  EXPECT_GE(recorded, 32u);
  EXPECT_LT(recorded, 45u);
  std::string told;
  const BackendReport report = host->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    told += ToString(diagnostic) + "\n";
  }
  EXPECT_THAT(told, HasSubstr(std::to_string(45 - recorded) +
                              " of the crashes have no record"));
  // Nothing crashes any more, so that no later record could count the rest.
  const ProcessWatch supervisor(host->supervisor_pid());
  host.reset();
  ASSERT_TRUE(supervisor.AwaitEnd());
  uint64_t accounted = 0;
  for (const Crash& crash : Records()) accounted += 1 + crash.unrecorded;
  EXPECT_EQ(accounted, 45u);
  EXPECT_THAT(
      Cli({"crashes"}).output,
      HasSubstr(std::to_string(Records().size()) + " crashes are recorded, " +
                std::to_string(45 - Records().size()) + " were not"));
}

TEST_F(Crashes, WithoutAStateDirectoryNothingIsKept) {
  HostOptions options = installation_.options();
  options.state_directory = "";
  const auto host = Host::Create(options).value();
  const Status status =
      Play(*host, clip_, installation_.Stream("at=packet:0 do=abort"));
  EXPECT_EQ(status.code(), Code::kPoisonedInput) << status;
  EXPECT_THAT(status.message(), Not(HasSubstr("bulkhead crashes")));
  EXPECT_EQ(status.exit_report()->crash, 0u);
}

}  // namespace
}  // namespace bulkhead::tests
