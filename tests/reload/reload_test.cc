// SPDX-License-Identifier: Apache-2.0
//
// Tests a backend, and its sessions, whose files change while it runs.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "bulkhead/operators.h"
#include "ipc/unique_fd.h"
#include "tests/reload/reloading.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_F(Reloading, NewSessionsGoToTheNewFilesAndOldOnesFinishOnTheOld) {
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const int worker = video.worker_pid();
  const ProcessWatch old(Info().zygote_pid);
  const Status reloaded = host_->Reload("chaos");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_NE(Info().zygote_pid, old.pid());
  EXPECT_EQ(Draining(), 1);
  VideoDecoder another = Open();
  EXPECT_EQ(HashesOfRest(another), expected_);
  EXPECT_FALSE(old.AwaitEnd(milliseconds(0)));
  std::vector<std::string> rest = HashesOfRest(video);
  EXPECT_EQ(video.worker_pid(), worker);
  rest.insert(rest.begin(), expected_[0]);
  EXPECT_EQ(rest, expected_);
  { const VideoDecoder closed = std::move(video); }
  EXPECT_TRUE(old.AwaitEnd());
}

// The new version passes the check, and decodes no more than that.
TEST_F(Reloading, AStreamWhoseWorkerDiesIsReplayedOnTheVersionThatItHad) {
  VideoDecoder video = Open();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(NextHash(video), expected_[i]);
  installation_.SetFaults("at=packet:1 do=segfault");
  ASSERT_TRUE(host_->Reload("chaos").ok());
  const ProcessWatch worker(video.worker_pid());
  ASSERT_TRUE(worker.Signal(SIGKILL));
  ASSERT_TRUE(worker.AwaitEnd());
  ExpectSameFrames(Fault(15), "worker killed, old version there",
                   {expected_.begin() + 50, expected_.end()},
                   HashesOfRest(video));
  EXPECT_NE(video.worker_pid(), worker.pid());
  EXPECT_EQ(video.recovery().restarts, 1u);
  EXPECT_EQ(Draining(), 1);
  auto another = host_->OpenVideo(clip_, {.device = "chaos"});
  EXPECT_FALSE(another && another->Next());
  { const VideoDecoder closed = std::move(video); }
  Await([&] { return Draining() == 0; });
}

TEST_F(Reloading, AStreamGoesOnOnTheNewVersionWhereTheOldOneHasEnded) {
  VideoDecoder video = Open();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(NextHash(video), expected_[i]);
  const ProcessWatch zygote(Info().zygote_pid);
  ASSERT_TRUE(host_->Reload("chaos").ok());
  const ProcessWatch worker(video.worker_pid());
  for (const ProcessWatch* process : {&zygote, &worker}) {
    ASSERT_TRUE(process->Signal(SIGKILL));
    ASSERT_TRUE(process->AwaitEnd());
  }
  ExpectSameFrames(Fault(15), "worker and old version killed",
                   {expected_.begin() + 50, expected_.end()},
                   HashesOfRest(video));
  Await([&] { return Draining() == 0; });
}

// The reload repaired what the old version dies of.
TEST_F(Reloading, AStreamThatDiesOnTheOldVersionAgainGoesOnOnTheNew) {
  installation_.SetFaults(
      "at=packet:80 do=segfault lives=1\n"
      "at=packet:0 do=segfault lives=2");
  host_ = Host::Create(installation_.options()).value();
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  installation_.SetFaults("");
  ASSERT_TRUE(host_->Reload("chaos").ok());
  for (size_t i = 1; i < expected_.size(); ++i) {
    ASSERT_EQ(NextHash(video), expected_[i]);
  }
  EXPECT_EQ(video.recovery().restarts, 2u);
  Await([&] { return Draining() == 0; });
}

struct Broken {
  const char* faults;
  const char* reason;
};

// Broken versions that a health check can detect; those with wrong pictures are
// in own_clip_test.cc.
class BrokenVersions : public Reloading,
                       public testing::WithParamInterface<Broken> {};

TEST_P(BrokenVersions, AreRolledBackWithTheReason) {
  HostOptions options = installation_.options();
  if (std::string_view(GetParam().faults).ends_with("hang")) {
    options.deadlines.backend_start = kShort;
    options.deadlines.worker_start = kShort;
  }
  host_ = Host::Create(options).value();
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const int zygote = Info().zygote_pid;
  installation_.SetFaults(GetParam().faults);
  ReplaceObject();
  // bulkheadd tries the new version by itself, once.
  Await([&] { return !Info().reason.empty(); });
  EXPECT_THAT(Info().reason, HasSubstr(GetParam().reason));
  EXPECT_EQ(Info().state, "ready");
  EXPECT_EQ(Info().zygote_pid, zygote);
  std::string told;
  const RunningHosts running = FindRunningHosts(milliseconds(0)).value();
  for (const RunningHost& host : running.hosts) {
    if (host.supervisor_pid != host_->supervisor_pid()) continue;
    for (const auto& backend : host.backends) told += backend.reason;
  }
  EXPECT_THAT(told, HasSubstr(GetParam().reason)) << "bulkhead ps shows it";
  // A command tries the new version again.
  const Status refused = host_->Reload("chaos");
  EXPECT_THAT(refused.code(),
              AnyOf(Code::kBackendUnavailable, Code::kBackendMisbehaved));
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("chaos was not reloaded"),
                                       HasSubstr(GetParam().reason)));
  EXPECT_EQ(Info().zygote_pid, zygote);
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 1);
  VideoDecoder another = Open();
  ExpectSameFrames(Fault(49), GetParam().reason, expected_,
                   HashesOfRest(another));
  // The new version is repaired.
  installation_.SetFaults("");
  ReplaceObject();
  AwaitOtherZygote(zygote);
  EXPECT_EQ(Info().reason, "");
  VideoDecoder repaired = Open();
  EXPECT_EQ(HashesOfRest(repaired), expected_);
}

INSTANTIATE_TEST_SUITE_P(
    Reloading, BrokenVersions,
    testing::Values(Broken{"at=load do=segfault", "signal 11"},
                    Broken{"at=load do=hang", "not ready within"},
                    Broken{"at=probe do=abort", "counted its devices"},
                    Broken{"at=probe do=none", "no device"},
                    Broken{"at=open do=segfault", "built-in clip"},
                    Broken{"at=packet do=segfault", "built-in clip"},
                    Broken{"at=packet do=hang", "it took too long"},
                    Broken{"at=picture do=other", "built-in clip"},
                    Broken{"at=packet do=exit:0", "built-in clip"}));

TEST_F(Reloading, ABackendThatSaysUnsupportedOfTheClipPasses) {
  const int zygote = Info().zygote_pid;
  // Returns BULKHEAD_UNSUPPORTED to the first worker of the zygote only.
  installation_.SetFaults("at=open do=error:4 workers=1");
  const Status reloaded = host_->Reload("chaos");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_NE(Info().zygote_pid, zygote);
  // Whoever reloads reads what was not checked.
  EXPECT_EQ(Info().state, "ready");
  EXPECT_THAT(Info().reason, HasSubstr("was not checked"));
  const ProgramResult command =
      RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"), "reload", "chaos",
                  "--host", std::to_string(::getpid())});
  EXPECT_EQ(command.exit_code, 0) << command.Describe();
  EXPECT_THAT(command.output, HasSubstr("was not checked"));
}

TEST_F(Reloading, AFileThatIsWrittenInPlaceTakesOverOnceItIsWhole) {
  ForgetHashes();
  ASSERT_TRUE(host_->Reload("chaos").ok());
  const std::string whole = Contents(object());
  const auto half = static_cast<ssize_t>(whole.size() / 2);
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const int worker = video.worker_pid();
  const int zygote = Info().zygote_pid;
  ipc::UniqueFd file(::open(object().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  ASSERT_TRUE(file);
  ASSERT_EQ(::write(file.get(), whole.data(), half), half);
  VideoDecoder meanwhile = Open();
  ExpectSameFrames(Fault(48), "half written in place", expected_,
                   HashesOfRest(meanwhile));
  EXPECT_EQ(Info().zygote_pid, zygote);
  const auto rest_bytes = static_cast<ssize_t>(whole.size()) - half;
  ASSERT_EQ(::write(file.get(), whole.data() + half, rest_bytes), rest_bytes);
  file.reset();
  AwaitOtherZygote(zygote);
  VideoDecoder another = Open();
  ExpectSameFrames(Fault(48), "written in place", expected_,
                   HashesOfRest(another));
  std::vector<std::string> rest = HashesOfRest(video);
  rest.insert(rest.begin(), expected_[0]);
  EXPECT_EQ(rest, expected_);
  EXPECT_EQ(video.worker_pid(), worker);
}

// The object has too many bytes to be copied, so the zygote maps the file.
TEST_F(Reloading, ALargeFileThatIsWrittenInPlaceIsLoadedOnceItIsWhole) {
  ForgetHashes();
  constexpr size_t kMoreThanIsCopied = size_t{33} << 20;
  fs::resize_file(object(), kMoreThanIsCopied);
  ASSERT_TRUE(host_->Reload("chaos").ok());
  const std::string whole = Contents(object());
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const ProcessWatch old(Info().zygote_pid);
  ipc::UniqueFd file(::open(object().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  ASSERT_TRUE(file);
  const auto half = static_cast<ssize_t>(whole.size() / 2);
  ASSERT_EQ(::write(file.get(), whole.data(), half), half);
  // The old worker cannot run on: pages of its file are gone.
  EXPECT_TRUE(old.AwaitEnd());
  auto opening = std::async(std::launch::async, [&] { return Open(); });
  // Asks for the backend's state before writing each piece.
  for (ssize_t at = half; at < static_cast<ssize_t>(whole.size());) {
    Await([&] { return Info().state == "starting"; });
    EXPECT_EQ(Info().zygote_pid, 0);
    const auto piece =
        std::min<ssize_t>(1 << 20, static_cast<ssize_t>(whole.size()) - at);
    ASSERT_EQ(::write(file.get(), whole.data() + at, piece), piece);
    at += piece;
  }
  // bound: longer than kSettlingTime. The file is complete, but its writer may
  // continue.
  EXPECT_EQ(opening.wait_for(milliseconds(1'200)), std::future_status::timeout);
  EXPECT_EQ(Info().zygote_pid, 0);
  file.reset();
  VideoDecoder another = opening.get();
  ExpectSameFrames(Fault(48), "large, written in place", expected_,
                   HashesOfRest(another));
  EXPECT_EQ(Info().incarnation, 1u);
  std::vector<std::string> rest = HashesOfRest(video);
  rest.insert(rest.begin(), expected_[0]);
  EXPECT_EQ(rest, expected_);
}

// Writes zeros into the file by a mapping and gives it its times back, so that
// neither a notification nor its state shows it.
void OverwriteUnnoticed(const std::string& path) {
  const ipc::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat before = {};
  ASSERT_EQ(::fstat(file.get(), &before), 0);
  const auto bytes = static_cast<size_t>(before.st_size);
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::memset(mapped, 0, bytes);
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::futimens(file.get(), times), 0);
  ::munmap(mapped, bytes);
}

TEST_F(Reloading, WhatIsWrittenIntoALoadedObjectIsNotRun) {
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const int zygote = Info().zygote_pid;
  OverwriteUnnoticed(object());
  VideoDecoder another = Open();
  ExpectSameFrames(Escape(83), "written into while it is loaded", expected_,
                   HashesOfRest(another));
  EXPECT_EQ(Info().zygote_pid, zygote);
  std::vector<std::string> rest = HashesOfRest(video);
  rest.insert(rest.begin(), expected_[0]);
  EXPECT_EQ(rest, expected_);
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_F(Reloading, ACopyOverTheObjectIsAnUpgrade) {
  const int zygote = Info().zygote_pid;
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  fs::copy_file(object(), object() + ".new");
  fs::copy_file(object() + ".new", object(),
                fs::copy_options::overwrite_existing);
  VideoDecoder another = Open();
  EXPECT_EQ(HashesOfRest(another), expected_);
  AwaitOtherZygote(zygote);
  std::vector<std::string> rest = HashesOfRest(video);
  rest.insert(rest.begin(), expected_[0]);
  EXPECT_EQ(rest, expected_);
}

TEST_F(Reloading, AnotherVersionThatAnInstallerPutsThereTakesOver) {
  const int zygote = Info().zygote_pid;
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const std::string root = installation_.path();
  const std::string kept = Contents(object());
  // pip removes the old version before it installs the new one.
  fs::rename(dist_info(), root + "/~ulkhead_chaos-0.1.0.dist-info");
  fs::rename(object(), object() + ".old");
  VideoDecoder between = Open();
  EXPECT_EQ(NextHash(between), expected_[0]);
  EXPECT_EQ(Info().zygote_pid, zygote);
  EXPECT_THAT(Info().reason, HasSubstr("removed"));
  std::ofstream(object(), std::ios::binary) << kept;
  fs::permissions(object(), fs::perms(0755));
  const std::string fresh = root + "/bulkhead_chaos-0.2.0.dist-info";
  fs::copy(root + "/~ulkhead_chaos-0.1.0.dist-info", fresh);
  std::ofstream(fresh + "/METADATA")
      << "Metadata-Version: 2.1\nName: bulkhead-chaos\nVersion: 0.2.0\n";
  const std::string record =
      std::regex_replace(Contents(fresh + "/RECORD"),
                         std::regex("-0\\.1\\.0\\.dist"), "-0.2.0.dist");
  std::ofstream(fresh + "/RECORD") << record;
  fs::remove_all(root + "/~ulkhead_chaos-0.1.0.dist-info");
  fs::remove(object() + ".old");
  AwaitOtherZygote(zygote);
  EXPECT_EQ(Info().version, "0.2.0");
  EXPECT_EQ(Info().reason, "");
  VideoDecoder another = Open();
  EXPECT_EQ(HashesOfRest(another), expected_);
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 1);
}

TEST_F(Reloading, WhatRunsGoesOnAfterItsFilesWereRemoved) {
  const int zygote = Info().zygote_pid;
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  fs::remove_all(dist_info());
  fs::remove_all(fs::path(object()).parent_path());
  Await([&] { return !Info().reason.empty(); });
  EXPECT_THAT(Info().reason, HasSubstr("removed"));
  EXPECT_EQ(host_->Reload("chaos").code(), Code::kNotFound);
  EXPECT_EQ(Info().zygote_pid, zygote);
  VideoDecoder another = Open();
  EXPECT_EQ(HashesOfRest(another), expected_);
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 1);
}

TEST_F(Reloading, DevicesComeAndGoWithTheVersion) {
  VideoDecoder video = Open();
  ASSERT_EQ(NextHash(video), expected_[0]);
  const int zygote = Info().zygote_pid;
  const std::string manifest = dist_info() + "/bulkhead.toml";
  const std::string before = Contents(manifest);
  std::string after = before;
  const size_t at = after.find("\"chaos\"");
  ASSERT_NE(at, std::string::npos) << before;
  after.replace(at, 7, "\"cpu\"");
  installation_.SetFaults("at=probe do=stranger");
  std::ofstream(manifest) << after;
  AwaitOtherZygote(zygote);
  EXPECT_EQ(host_->OpenVideo(clip_, {.device = "chaos"}).error().code(),
            Code::kNotFound);
  auto other = host_->OpenVideo(clip_, {.device = "chaos/cpu"});
  ASSERT_TRUE(other) << other.error();
  EXPECT_EQ(HashesOfRest(*other), expected_);
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 1);
}

}  // namespace
}  // namespace bulkhead::tests
