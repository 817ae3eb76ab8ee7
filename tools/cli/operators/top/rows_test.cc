// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "tools/cli/operators/top/rows.h"

#include <bulkhead/event.h>
#include <bulkhead/operators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/causes.h"
#include "tools/cli/operators/top/layout.h"
#include "tools/cli/operators/top/rates.h"

namespace bulkhead::cli::top {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunningSession Playing(uint64_t number, double rate, uint32_t restarts = 0) {
  return {.session = number,
          .device = "acme:0",
          .input = "clip.mp4",
          .worker_pid = 100 + static_cast<int>(number),
          .frames = 10,
          .frames_per_second = rate,
          .restarts = restarts};
}

RunningBackend Backend(const std::string& name, const std::string& state,
                       const std::string& reason = "") {
  return {.name = name, .state = state, .reason = reason, .incarnation = 1};
}

RunningHosts OneHost(std::vector<RunningBackend> backends) {
  return {.hosts = {{.pid = 4711,
                     .command = "player --loop",
                     .supervisor_pid = 4712,
                     .backends = std::move(backends)}}};
}

std::vector<std::string> WhatOf(const Table& table) {
  std::vector<std::string> what;
  for (const Row& row : table.rows) what.push_back(row.what);
  return what;
}

TEST(Rows, WithoutTroubleAreInTheOrderOfPs) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 25), Playing(2, 30)};
  const Table table =
      TableOf(OneHost({acme, Backend("cpu", "ready")}), Causes());
  EXPECT_THAT(WhatOf(table),
              ElementsAre("player", "acme", "acme:0 #1", "acme:0 #2", "cpu"));
  EXPECT_EQ(DescribeTroubles(table.totals), "nothing is wrong");
  EXPECT_EQ(Describe(table.totals),
            "1 applications, 2 backends, 2 sessions, 55.0 frames/s");
  EXPECT_EQ(table.rows[1].frames_per_second, 55);
  EXPECT_EQ(table.rows[2].bar, 25.0 / 30);
}

TEST(Rows, TheWorstComesFirst) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 25),    Playing(2, 100),   Playing(3, 100),
                   Playing(4, 90, 1), Playing(5, 90, 7), Playing(6, 0),
                   Playing(7, 30)};
  RunningHosts running = OneHost(
      {acme, Backend("rolled-back", "ready", "its new files do not load"),
       Backend("gone", "discovered", "its zygote was ended"),
       Backend("waits", "backing-off", "it crashed"),
       Backend("bad", "quarantined", "it crashed five times")});
  running.hosts[0].backends[0].sessions[5].waiting = milliseconds(8'900);
  running.hosts[0].written_off = {{.backend = "acme", .pid = 99}};
  running.silent = {{.pid = 7, .reason = "somebody does not answer"}};
  const Table table = TableOf(running, Causes());
  EXPECT_THAT(WhatOf(table),
              ElementsAre("bad", "waits", "gone", "acme worker 99",
                          "(not visible)", "acme:0 #6", "rolled-back",
                          "acme:0 #5", "acme:0 #4", "acme:0 #1", "acme:0 #7",
                          "player", "acme", "acme:0 #2", "acme:0 #3"));
  EXPECT_EQ(table.totals.applications, 2u);
  EXPECT_EQ(DescribeTroubles(table.totals),
            "1 quarantined, 1 backing off, 1 lost, 1 written off, 1 silent, 1 "
            "waiting, 1 noted, 2 restarted, 2 slow");
}

TEST(Rows, ASilentApplicationHasItsPidAndItsName) {
  RunningHosts running;
  running.silent = {{.pid = 4711,
                     .command = "/usr/bin/player --loop",
                     .reason = "the bulkheadd does not answer"}};
  const Table table = TableOf(running, Causes());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].state, "silent");
  EXPECT_EQ(table.rows[0].what, "player");
  EXPECT_THAT(Layout(80).LineOf(table.rows[0], false), HasSubstr(" 4711 "));
}

TEST(Rows, ASessionThatIsAskedForNothingIsIdle) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 0), Playing(2, 0), Playing(3, 0)};
  acme.sessions[1].waiting = milliseconds(1'999);
  acme.sessions[2].waiting = milliseconds(2'000);
  const Table table = TableOf(OneHost({acme}), Causes());
  EXPECT_EQ(table.rows[0].state, "waiting");
  EXPECT_EQ(table.rows[0].what, "acme:0 #3");
  EXPECT_EQ(table.rows[0].cause, "for 2 s: clip.mp4");
  EXPECT_EQ(table.rows[3].state, "idle");
  EXPECT_EQ(table.rows[4].state, "open");
  EXPECT_EQ(DescribeTroubles(table.totals), "1 waiting");
}

TEST(Rows, TheLongestWaitComesFirst) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 0), Playing(2, 0)};
  acme.sessions[0].waiting = milliseconds(3'000);
  acme.sessions[1].waiting = milliseconds(9'000);
  EXPECT_EQ(TableOf(OneHost({acme}), Causes()).rows[0].what, "acme:0 #2");
}

TEST(Rows, FewSessionsHaveNoMedian) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 1), Playing(2, 100)};
  EXPECT_THAT(TableOf(OneHost({acme}), Causes()).totals.troubles, IsEmpty());
}

TEST(Rows, ABackendIsLostUnlessACommandEndedItsProcess) {
  const auto event = [](Event::Kind kind, std::string text) {
    return Event{.kind = kind,
                 .host_pid = 4711,
                 .backend = "acme",
                 .text = std::move(text)};
  };
  const RunningHosts running = OneHost({Backend("acme", "discovered")});
  Causes causes;
  causes.Add({event(Event::Kind::kZygoteEnded, "it was killed")});
  const Table lost = TableOf(running, causes);
  EXPECT_EQ(lost.rows[0].trouble, Trouble::kLost);
  EXPECT_EQ(lost.rows[0].cause, "it was killed");
  causes.Add({event(Event::Kind::kZygoteEnded, "it was restarted on command"),
              event(Event::Kind::kCommand, "restart: done")});
  EXPECT_THAT(TableOf(running, causes).totals.troubles, IsEmpty());
}

TEST(Rows, ABackendThatIsTriedAgainStaysOnTop) {
  const Table table =
      TableOf(OneHost({Backend("cpu", "starting"),
                       Backend("acme", "starting", "it crashed")}),
              Causes());
  EXPECT_EQ(table.rows[0].what, "acme");
  EXPECT_EQ(table.rows[0].state, "starting");
  EXPECT_EQ(DescribeTroubles(table.totals), "1 backing off");
}

TEST(Rows, ABackendThatHasNotRunIsNotLost) {
  RunningBackend idle = Backend("idle", "discovered", "");
  EXPECT_THAT(TableOf(OneHost({idle}), Causes()).totals.troubles, IsEmpty());
}

TEST(Rows, ASessionWithoutAWorkerWaits) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 25)};
  acme.sessions[0].worker_pid = 0;
  EXPECT_EQ(TableOf(OneHost({acme}), Causes()).rows[0].trouble,
            Trouble::kWaiting);
}

TEST(Rows, HaveTheLastCause) {
  Causes causes;
  causes.Add({{.kind = Event::Kind::kWorkerEnded,
               .host_pid = 4711,
               .backend = "acme",
               .session = 1,
               .text = "it was ended by signal 11"},
              {.kind = Event::Kind::kSessionOpened,
               .host_pid = 4711,
               .backend = "acme",
               .session = 1,
               .text = "again"}});
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 25), Playing(2, 25)};
  Table table = TableOf(OneHost({acme}), causes);
  EXPECT_EQ(table.rows[1].cause, "it was ended by signal 11");
  EXPECT_EQ(table.rows[2].cause, "it was ended by signal 11");
  EXPECT_EQ(table.rows[3].cause, "clip.mp4");
  causes.Add({{.kind = Event::Kind::kSessionClosed,
               .host_pid = 4711,
               .backend = "acme",
               .session = 1}});
  table = TableOf(OneHost({acme}), causes);
  EXPECT_EQ(table.rows[1].cause, "it was ended by signal 11");
  EXPECT_EQ(table.rows[2].cause, "clip.mp4");
}

TEST(Rows, APassedTrialIsNoCause) {
  const auto trial = [](std::string outcome) {
    return Event{.kind = Event::Kind::kTrial,
                 .host_pid = 4711,
                 .backend = "acme",
                 .state = outcome,
                 .text = outcome + " the trial"};
  };
  Causes causes;
  causes.Add({trial("passed")});
  EXPECT_EQ(causes.OfBackend(4711, "acme"), "");
  causes.Add({trial("failed"), trial("passed")});
  EXPECT_EQ(causes.OfBackend(4711, "acme"), "failed the trial");
}

TEST(Rows, ASessionTakesItsCauseToItsNextWorker) {
  const auto event = [](Event::Kind kind, uint64_t session, std::string text) {
    return Event{.kind = kind,
                 .host_pid = 4711,
                 .backend = "acme",
                 .session = session,
                 .device = "acme:0",
                 .text = std::move(text)};
  };
  Causes causes;
  causes.Add({event(Event::Kind::kSessionOpened, 1, "clip.mp4"),
              event(Event::Kind::kSessionOpened, 2, "other.mp4"),
              event(Event::Kind::kWorkerEnded, 1, "clip.mp4: it was killed"),
              event(Event::Kind::kWorkerEnded, 2, "other.mp4: it hung"),
              event(Event::Kind::kSessionOpened, 3, "other.mp4"),
              event(Event::Kind::kSessionClosed, 2, "other.mp4"),
              event(Event::Kind::kSessionClosed, 1, "clip.mp4"),
              event(Event::Kind::kSessionOpened, 4, "clip.mp4")});
  EXPECT_EQ(causes.OfSession(4711, "acme", 3), "it hung");
  EXPECT_EQ(causes.OfBackend(4711, "acme"), "it hung: other.mp4");
  // Its worker was lost, and so was the session.
  EXPECT_EQ(causes.OfSession(4711, "acme", 1), "");
  EXPECT_EQ(causes.OfSession(4711, "acme", 4), "");
}

TEST(Rates, AreThoseOfTheLastTwoSeconds) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 0)};
  RunningHosts running = OneHost({acme});
  RunningSession& session = running.hosts[0].backends[0].sessions[0];
  Rates rates;
  Rates::Time now{};
  rates.Fill(running, now);
  EXPECT_EQ(session.frames_per_second, std::nullopt);
  for (int second = 0; second < 4; ++second) {
    now += milliseconds(1'000);
    session.frames += 30;
    rates.Fill(running, now);
    EXPECT_EQ(session.frames_per_second, 30);
  }
  now += milliseconds(1'000);
  rates.Fill(running, now);
  EXPECT_EQ(session.frames_per_second, 15);
  now += milliseconds(1'000);
  rates.Fill(running, now);
  EXPECT_EQ(session.frames_per_second, 0);
}

TEST(Rates, ACountThatFallsBeginsAnew) {
  RunningBackend acme = Backend("acme", "ready");
  acme.sessions = {Playing(1, 0)};
  RunningHosts running = OneHost({acme});
  Rates rates;
  rates.Fill(running, Rates::Time{});
  running.hosts[0].backends[0].sessions[0].frames = 0;
  rates.Fill(running, Rates::Time{} + milliseconds(1'000));
  EXPECT_EQ(running.hosts[0].backends[0].sessions[0].frames_per_second,
            std::nullopt);
}

TEST(LayoutTest, NoLineIsWiderThanTheTerminal) {
  RunningBackend acme = Backend("acme", "quarantined", std::string(300, 'x'));
  acme.sessions = {Playing(123456, 123456789.5, 4'000'000'000u)};
  const Table table = TableOf(OneHost({acme}), Causes());
  for (int columns = Layout::kMinColumns; columns < 260; ++columns) {
    const Layout layout(columns);
    EXPECT_LE(layout.Heading().size(), static_cast<size_t>(columns));
    for (const Row& row : table.rows) {
      const std::string line = layout.LineOf(row, true);
      EXPECT_LE(line.size(), static_cast<size_t>(columns)) << line;
    }
  }
}

TEST(LayoutTest, ANarrowTerminalHasWhatMattersMost) {
  RunningBackend acme = Backend("acme", "backing-off", "it crashed");
  const Table table = TableOf(OneHost({acme}), Causes());
  EXPECT_EQ(Layout(40).LineOf(table.rows[0], true),
            "> backing off    4711 acme             -");
  EXPECT_THAT(Layout(60).LineOf(table.rows[0], false), HasSubstr("it crashed"));
  const std::string all = Layout::Uncut().LineOf(table.rows[0], false);
  EXPECT_THAT(all, HasSubstr("it crashed"));
  EXPECT_THAT(all, Not(testing::EndsWith(" ")));
}

}  // namespace
}  // namespace bulkhead::cli::top
