// SPDX-License-Identifier: Apache-2.0
//
// Tests what operators see and do from outside, what an application learns
// about its own backends, and what a forked child is refused.

#include "bulkhead/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "core/application/operators/operator_peer.h"
#include "core/control/control_exchange.h"
#include "core/control/operator_address.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/await.h"
#include "tests/support/nobody.h"
#include "tests/support/own_world.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kMadeUpFrames = 24;
constexpr milliseconds kLimit{30'000};
constexpr char kReachesOthers[] =
    "without a network namespace of its own, this test would restart the "
    "backends of other applications";

class Operators : public testing::Test {
 protected:
  // Drops all hosts of this test, since operators find hosts by pid.
  void TearDown() override {
    EXPECT_THAT(AwaitEndOfAll(supervisors_, kLimit), testing::IsEmpty());
  }

  std::unique_ptr<Host> NewHost(EventObserver on_event = nullptr) {
    return NewHost(installation_.options(), std::move(on_event));
  }
  std::unique_ptr<Host> NewHost(HostOptions options,
                                EventObserver on_event = nullptr) {
    options.state_directory = TemporaryDirectory() + "/state";
    options.on_event = std::move(on_event);
    auto host = Host::Create(options).value();
    supervisors_.emplace_back(host->supervisor_pid());
    return host;
  }

  Result<VideoDecoder> Open(Host& host) const {
    return host.OpenVideo(installation_.media(), {.device = "honest"});
  }

  static int CountRest(VideoDecoder& video) {
    for (int frames = 0;; ++frames) {
      if (!video.Next().value()) return frames;
    }
  }

  // Picks the host of this test, since other tests may run hosts at the same
  // time.
  static RunningHost Mine(int supervisor_pid) {
    // bound: the time over which rates are measured.
    const RunningHosts running = FindRunningHosts(milliseconds(20)).value();
    for (const RunningHost& host : running.hosts) {
      if (host.supervisor_pid == supervisor_pid) return host;
    }
    ADD_FAILURE() << "the host was not found";
    return {};
  }

  static RunningBackend Honest(const RunningHost& host) {
    for (const RunningBackend& backend : host.backends) {
      if (backend.name == "honest") return backend;
    }
    ADD_FAILURE() << "there is no such backend";
    return {};
  }

  static ProgramResult Cli(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    return RunProgram(arguments, {});
  }

  const LyingInstallation installation_{{"honest"}};
  std::vector<ProcessWatch> supervisors_;
};

// Asks as an operator does, and reads the answer.
Status Describe(int socket) {
  return Exchange(
      socket,
      [](ipc::schema::HostRequest::Builder request) {
        request.setDescribeHost();
      },
      {}, ipc::Deadline::After(kLimit), [](auto, auto&) { return Status(); });
}

// Returns a socket that is bound or connected to the abstract address `name`,
// or an empty one.
ipc::UniqueFd SocketTo(const std::string& name,
                       int (*call)(int, const sockaddr*, socklen_t)) {
  sockaddr_un address;
  socklen_t bytes = 0;
  ipc::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!ToAddress(name, address, bytes) ||
      call(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
    return {};
  }
  return socket;
}

bool Has(const std::vector<Event>& events, Event::Kind kind) {
  return std::any_of(events.begin(), events.end(),
                     [kind](const Event& event) { return event.kind == kind; });
}

std::vector<std::string> Told(const std::vector<Event>& events) {
  std::vector<std::string> told;
  for (const Event& event : events) {
    std::string text = EventKindName(event.kind);
    if (!event.state.empty()) text += " " + event.state;
    told.push_back(text);
  }
  return told;
}

TEST_F(Operators, SeeWhatEveryHostOfTheUserDoes) {
  const auto host = NewHost();
  auto video = Open(*host).value();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(video.Next().value());
  const RunningHost seen = Mine(host->supervisor_pid());
  EXPECT_EQ(seen.pid, ::getpid());
  EXPECT_THAT(seen.command, HasSubstr("operators_test"));
  EXPECT_NE(seen.tier, SandboxTier::kNone);
  EXPECT_GT(seen.memory_bytes, 0u);
  const RunningBackend backend = Honest(seen);
  EXPECT_EQ(backend.state, "ready");
  EXPECT_EQ(backend.incarnation, 1u);
  EXPECT_GT(backend.memory_bytes, 0u);
  EXPECT_THAT(backend.worker_pids, testing::ElementsAre(video.worker_pid()));
  ASSERT_EQ(backend.sessions.size(), 1u);
  const RunningSession& session = backend.sessions[0];
  EXPECT_EQ(session.frames, 5u);
  EXPECT_EQ(session.restarts, 0u);
  EXPECT_EQ(session.worker_pid, video.worker_pid());
  EXPECT_EQ(session.input, installation_.media());
  EXPECT_EQ(session.frames_per_second.value_or(-1), 0);
  EXPECT_EQ(session.waiting, std::nullopt);
}

TEST_F(Operators, SeeForHowLongACallWaits) {
  HostOptions patient = installation_.options();
  patient.deadlines.frame = kLimit;
  const auto host = NewHost(patient);
  auto video = Open(*host).value();
  ASSERT_TRUE(video.Next().value());
  const ProcessWatch worker(video.worker_pid());
  ASSERT_TRUE(worker.Signal(SIGSTOP));
  const auto session = [&] {
    return Honest(Mine(host->supervisor_pid())).sessions.at(0);
  };
  std::jthread reader([&] { EXPECT_EQ(CountRest(video), kMadeUpFrames - 1); });
  // The frames that were decoded ahead come first.
  RunningSession waiting;
  // bound: what a session that waits has to show; it waits for longer.
  do {
    waiting = session();
  } while (waiting.waiting.value_or(std::chrono::milliseconds(0)) <
           std::chrono::milliseconds(100));
  EXPECT_EQ(waiting.frames_per_second.value_or(-1), 0);
  const std::string pid = std::to_string(::getpid());
  EXPECT_THAT(Cli({"ps", "--host", pid}).output, HasSubstr("waiting for "));
  ASSERT_TRUE(worker.Signal(SIGCONT));
  reader.join();
  EXPECT_EQ(session().waiting, std::nullopt);
  EXPECT_THAT(Cli({"ps", "--host", pid}).output, HasSubstr(" idle, "));
  const ProgramResult absent = Cli({"ps", "--host", "1"});
  EXPECT_EQ(absent.exit_code, 2) << absent.Describe();
  EXPECT_THAT(absent.errors, HasSubstr("process 1 "));
}

TEST_F(Operators, FramesAreCountedAcrossWorkers) {
  const auto host = NewHost();
  auto video = Open(*host).value();
  ASSERT_TRUE(video.Next().value());
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  EXPECT_EQ(CountRest(video), kMadeUpFrames - 1);
  const RunningBackend backend = Honest(Mine(host->supervisor_pid()));
  ASSERT_EQ(backend.sessions.size(), 1u);
  EXPECT_EQ(backend.sessions[0].frames, uint64_t{kMadeUpFrames});
  EXPECT_EQ(backend.sessions[0].restarts, 1u);
  EXPECT_EQ(backend.restarts, 1u);
}

TEST_F(Operators, CommandABackendOfAnApplication) {
  const auto host = NewHost();
  ASSERT_TRUE(
      CommandBackend(::getpid(), "honest", BackendCommand::kDisable).ok());
  EXPECT_EQ(Open(*host).error().code(), Code::kBackendUnavailable);
  ASSERT_TRUE(
      CommandBackend(::getpid(), "honest", BackendCommand::kEnable).ok());
  EXPECT_TRUE(Open(*host));
  const Status absent =
      CommandBackend(::getpid(), "honset", BackendCommand::kRestart);
  EXPECT_EQ(absent.code(), Code::kNotFound);
  EXPECT_THAT(absent.message(), HasSubstr("honest"));
  EXPECT_EQ(CommandBackend(1, "honest", BackendCommand::kRestart).code(),
            Code::kNotFound);
}

TEST_F(Operators, FollowersAreToldInOrderUntilTheLastHostEnds) {
  auto host = NewHost();
  auto follower = EventFollower::Create(::getpid()).value();
  {
    auto video = Open(*host).value();
    ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
    EXPECT_EQ(CountRest(video), kMadeUpFrames);
  }
  ASSERT_TRUE(host->Restart("honest").ok());
  std::vector<Event> events;
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!Has(events, Event::Kind::kCommand)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    const auto more = follower.Next(kLimit).value();
    events.insert(events.end(), more.begin(), more.end());
  }
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].number, i + 1);
    EXPECT_EQ(events[i].lost, 0u);
    EXPECT_EQ(events[i].host_pid, ::getpid());
  }
  const auto told = Told(events);
  for (const char* expected :
       {"backend-state starting", "backend-state ready", "session-opened",
        "worker-ended", "session-closed", "command"}) {
    EXPECT_THAT(told, Contains(expected));
  }
  EXPECT_EQ(Told(RecentEvents(::getpid()).value()).front(), told.front());
  host.reset();
  Status last;
  while (last.ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    const auto more = follower.Next(kLimit);
    if (!more) last = more.error();
  }
  EXPECT_EQ(last.code(), Code::kBackendLost);
}

TEST_F(Operators, AnObserverIsCalledInsideCallsOnly) {
  std::vector<Event> events;
  const auto caller = std::this_thread::get_id();
  const auto host = NewHost([&](const Event& event) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    events.push_back(event);
  });
  { auto video = Open(*host).value(); }
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!Has(events, Event::Kind::kSessionClosed)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    const auto listed = host->Backends();
    ASSERT_TRUE(listed) << listed.error();
  }
  EXPECT_THAT(Told(events), Contains("session-opened"));
}

TEST_F(Operators, WhatOnlyTheApplicationMayAskClosesTheConnection) {
  const auto host = NewHost();
  const auto found = operators::FindPeers(::getpid()).value();
  ASSERT_EQ(found.peers.size(), 1u);
  const Status closed = Exchange(
      found.peers[0].socket.get(),
      [](ipc::schema::HostRequest::Builder request) {
        request.setListBackends();
      },
      {}, ipc::Deadline::After(kLimit), TakeConfigured);
  EXPECT_EQ(closed.code(), Code::kBackendLost);
  EXPECT_TRUE(host->Backends());
}

TEST_F(Operators, APeerThatFloodsAndDoesNotReadLosesItsConnectionOnly) {
  const auto host = NewHost();
  const auto found = operators::FindPeers(::getpid()).value();
  ASSERT_EQ(found.peers.size(), 1u);
  Status sent;
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (sent.ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    sent = SendRequest(
        found.peers[0].socket.get(),
        [](ipc::schema::HostRequest::Builder request) {
          request.setDescribeHost();
        },
        {}, ipc::Deadline::After(kLimit));
  }
  EXPECT_EQ(sent.code(), Code::kBackendLost);
  auto video = Open(*host).value();
  EXPECT_EQ(CountRest(video), kMadeUpFrames);
}

TEST_F(Operators, APeerThatAsksWithoutEndLosesItsConnectionThoughItReads) {
  const auto host = NewHost();
  const auto found = operators::FindPeers(::getpid()).value();
  ASSERT_EQ(found.peers.size(), 1u);
  const auto end = std::chrono::steady_clock::now() + kLimit;
  int answered = 0;
  while (Describe(found.peers[0].socket.get()).ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    ++answered;
  }
  EXPECT_GE(answered, 200);
  EXPECT_TRUE(host->Backends());
}

TEST_F(Operators, APeerThatAsksNowAndThenKeepsItsConnection) {
  const auto host = NewHost();
  const auto found = operators::FindPeers(::getpid()).value();
  ASSERT_EQ(found.peers.size(), 1u);
  for (int second = 0; second < 2; ++second) {
    // bound: bulkheadd counts what a peer asks in a second.
    const auto next =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
    for (int i = 0; i < 150; ++i) {
      ASSERT_TRUE(Describe(found.peers[0].socket.get()).ok()) << second << i;
    }
    std::this_thread::sleep_until(next);
  }
}

TEST_F(Operators, OfAnotherUserAreNotAnswered) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const auto host = NewHost();
  const auto found = operators::FindPeers(::getpid()).value();
  ASSERT_EQ(found.peers.size(), 1u);
  const std::string& name = found.peers[0].address;
  RunAsNobody({}, [&] {
    const ipc::UniqueFd socket = SocketTo(name, ::connect);
    ASSERT_TRUE(socket);
    EXPECT_EQ(Describe(socket.get()).code(), Code::kBackendLost);
  });
  EXPECT_TRUE(Describe(found.peers[0].socket.get()).ok());
}

TEST_F(Operators, MayNotBeMoreThanTheBoundAtATime) {
  const auto host = NewHost();
  std::vector<operators::FoundPeers> held;
  for (int i = 0; i < 40; ++i) {
    auto found = operators::FindPeers(::getpid());
    if (found) held.push_back(*std::move(found));
  }
  int answered = 0;
  for (const operators::FoundPeers& found : held) {
    for (const auto& peer : found.peers) {
      answered += Describe(peer.socket.get()).ok();
    }
  }
  EXPECT_EQ(answered, 16);
  EXPECT_FALSE(
      CommandBackend(::getpid(), "honest", BackendCommand::kRestart).ok());
  EXPECT_TRUE(host->Backends());
  held.clear();
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!CommandBackend(::getpid(), "honest", BackendCommand::kRestart).ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
}

TEST_F(Operators, TheCommandLineShowsAndCommands) {
  const auto host = NewHost();
  auto video = Open(*host).value();
  const std::string pid = std::to_string(::getpid());
  const ProgramResult ps = Cli({"ps", "--json"});
  ASSERT_EQ(ps.exit_code, 0) << ps.Describe();
  EXPECT_THAT(ps.output, HasSubstr("\"worker_pid\": " +
                                   std::to_string(video.worker_pid())));
  EXPECT_EQ(Cli({"ps"}).exit_code, 0);
  const ProgramResult disabled = Cli({"disable", "honest", "--host", pid});
  EXPECT_EQ(disabled.exit_code, 0) << disabled.Describe();
  EXPECT_EQ(Cli({"restart", "honest", "--host", pid}).exit_code, 4);
  EXPECT_EQ(Cli({"enable", "honest", "--host", pid}).exit_code, 0);
  EXPECT_EQ(Cli({"reload", "honset", "--host", pid}).exit_code, 2);
  const ProgramResult events = Cli({"events", "--json", "--host", pid});
  EXPECT_EQ(events.exit_code, 0) << events.Describe();
  EXPECT_THAT(events.output, HasSubstr("\"text\":\"disable: done\""));
}

TEST_F(Operators, ASessionWithoutAWorkerHasNoPid) {
  if (!HasOwnNetwork()) GTEST_SKIP() << kReachesOthers;
  EXPECT_THAT(
      Cli({"backends", "--json"}).output,
      AllOf(HasSubstr("\"zygote_pid\": null"),
            HasSubstr("\"reaper_pid\": null"), Not(HasSubstr("_pid\": 0"))));
  const auto host = NewHost();
  auto video = Open(*host).value();
  ASSERT_TRUE(video.Next().value());
  ASSERT_TRUE(ProcessWatch(video.worker_pid()).Signal(SIGKILL));
  // The application asks for nothing, so nobody gives it another one.
  ASSERT_TRUE(Await(
      [&] {
        return Honest(Mine(host->supervisor_pid())).sessions.at(0).worker_pid ==
               0;
      },
      kLimit));
  EXPECT_THAT(
      Cli({"ps", "--json"}).output,
      AllOf(HasSubstr("\"worker_pid\": null"), Not(HasSubstr("_pid\": 0"))));
  EXPECT_THAT(Cli({"ps"}).output, HasSubstr(" restarts, no worker"));
}

TEST_F(Operators, PsShowsAnApplicationThatDoesNotAnswer) {
  if (!HasOwnNetwork()) GTEST_SKIP() << kReachesOthers;
  const auto host = NewHost();
  const ProcessWatch supervisor(host->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  const ProgramResult ps = Cli({"ps"});
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_EQ(ps.exit_code, 0) << ps.Describe();
  const std::string pid = std::to_string(::getpid());
  EXPECT_THAT(ps.output,
              AllOf(StartsWith(pid + " "), HasSubstr("operators_test\n"),
                    HasSubstr("\n  silent: the bulkheadd of process " + pid +
                              " does not answer")));
  EXPECT_EQ(ps.errors, "");
}

TEST_F(Operators, ACommandForAllFailsIfAnApplicationDoesNotAnswer) {
  if (!HasOwnNetwork()) GTEST_SKIP() << kReachesOthers;
  const auto host = NewHost();
  ASSERT_TRUE(host->Prewarm("honest").ok());
  const ProcessWatch supervisor(host->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  const ProgramResult all = Cli({"restart", "honest", "--all"});
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_EQ(all.exit_code, 4) << all.Describe();
  EXPECT_THAT(all.errors,
              HasSubstr("the bulkheadd of process " +
                        std::to_string(::getpid()) + " does not answer"));
}

// What one application did is no success for another one.
TEST_F(Operators, ACommandForAllFailsIfOneOfSeveralDoesNotAnswer) {
  if (!HasOwnNetwork()) GTEST_SKIP() << kReachesOthers;
  const auto other = ipc::ForkedChild::Prepared([&] {
    static std::unique_ptr<Host> host;
    host = Host::Create(installation_.options()).value();
    EXPECT_TRUE(host->Prewarm("honest").ok());
  });
  const auto host = NewHost();
  const ProcessWatch supervisor(host->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  const ProgramResult all = Cli({"restart", "honest", "--all"});
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_EQ(all.exit_code, 4) << all.Describe();
  EXPECT_THAT(all.output, HasSubstr("restarted honest in process " +
                                    std::to_string(other.pid())));
}

// What is on record is changed first, whatever the applications answer.
TEST_F(Operators, WhatIsDisabledIsOnRecordThoughAnApplicationDoesNotAnswer) {
  if (!HasOwnNetwork()) GTEST_SKIP() << kReachesOthers;
  const auto host = NewHost();
  ASSERT_TRUE(host->Prewarm("honest").ok());
  const ProcessWatch supervisor(host->supervisor_pid());
  const auto state_of = [&] {
    const auto later = NewHost();
    const BackendReport report = later->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "honest") return backend.state;
    }
    return std::string("there is none");
  };
  const auto run = [&](std::vector<std::string> arguments) {
    const HostOptions options = installation_.options();
    arguments.insert(arguments.begin(),
                     {PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
                      options.libexec_dir, "--plugin-path",
                      options.plugin_path.value().front()});
    return RunProgram(arguments,
                      {.environment = {{"BULKHEAD_STATE_DIR",
                                        TemporaryDirectory() + "/state"}}});
  };
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  const ProgramResult disabled = run({"disable", "honest"});
  EXPECT_EQ(disabled.exit_code, 4) << disabled.Describe();
  EXPECT_THAT(disabled.errors, HasSubstr("does not answer"));
  EXPECT_THAT(disabled.output,
              HasSubstr("disabled honest for applications that start later"));
  EXPECT_EQ(state_of(), "disabled");
  const ProgramResult enabled = run({"enable", "honest"});
  EXPECT_EQ(enabled.exit_code, 4) << enabled.Describe();
  EXPECT_EQ(state_of(), "discovered");
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
}

// The session of the parent continues undisturbed.
TEST_F(Operators, AForkedChildIsRefusedAndDisturbsNobody) {
  auto host = NewHost();
  auto video = std::make_unique<VideoDecoder>(Open(*host).value());
  ASSERT_TRUE(video->Next().value());
  ipc::ForkedChild child([&] {
    int wrong = 0;
    const auto refused = [&](const Status& status) {
      const bool clear =
          status.code() == Code::kUnsupported &&
          status.message().find("after fork()") != std::string::npos;
      if (!clear) ++wrong;
    };
    refused(video->Next().error());
    refused(video->FrameAt(0).error());
    refused(video->FrameCount().error());
    refused(host->Backends().error());
    refused(host->Prewarm("honest"));
    refused(host->Restart("honest"));
    video.reset();
    host.reset();
    return wrong;
  });
  EXPECT_EQ(child.Wait(), 0);
  EXPECT_EQ(CountRest(*video), kMadeUpFrames - 1);
  EXPECT_EQ(video->recovery().restarts, 0u);
  EXPECT_TRUE(host->Backends());
}

}  // namespace
}  // namespace bulkhead::tests
