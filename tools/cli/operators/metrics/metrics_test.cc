// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include <bulkhead/operators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "ipc/unique_fd.h"
#include "tools/cli/operators/metrics/exporter.h"
#include "tools/cli/operators/metrics/metric_families.h"
#include "tools/cli/operators/metrics/metric_totals.h"

namespace bulkhead::cli::metrics {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using Time = MetricTotals::Time;

constexpr Time kBegan{seconds(1'000)};

// One Host of the program "app", whose backend "acme" gave `frames` frames.
RunningHost HostWith(uint64_t frames, int pid = 7,
                     milliseconds uptime = seconds(10)) {
  RunningHost host;
  host.command = "/opt/app/bin/app --all clip.mp4";
  host.supervisor_pid = pid;
  host.uptime = uptime;
  host.tier = SandboxTier::kFull;
  host.memory_bytes = 4'096;
  RunningBackend& backend = host.backends.emplace_back();
  backend.name = "acme";
  backend.state = "ready";
  backend.memory_bytes = 8'192;
  backend.sessions.resize(1);
  BackendCounts& counts = host.counts.emplace_back();
  counts.backend = "acme";
  counts.frames = frames;
  return host;
}

RunningHosts Running(std::vector<RunningHost> hosts) {
  return {.hosts = std::move(hosts), .silent = {}};
}

std::string TextOf(const Result<RunningHosts>& running,
                   const MetricTotals& totals) {
  return prometheus::TextSerializer().Serialize(FamiliesOf(running, totals));
}

std::string TextOf(const RunningHosts& running) {
  MetricTotals totals(MetricTotals::Since::kStart, kBegan);
  totals.Add(running, kBegan);
  return TextOf(running, totals);
}

// Returns the line of a series without its name and labels.
std::string ValueOf(const std::string& text, const std::string& series) {
  const size_t begin = text.find("\n" + series + " ");
  if (begin == std::string::npos) return "absent";
  const size_t value = begin + series.size() + 2;
  return text.substr(value, text.find('\n', value) - value);
}

uint64_t FramesOf(const MetricTotals& totals) {
  return totals.all().at({"app", "acme"}).backend.frames;
}

TEST(Metrics, TheTextOfOneHost) {
  RunningHost host = HostWith(1'234'567);
  BackendCounts& counts = host.counts[0];
  counts.starts = 2;
  counts.quarantines = 3;
  counts.streams = 4;
  counts.session_time = milliseconds(1'500);
  counts.poisoned_inputs = 5;
  counts.refused_streams = 6;
  counts.failovers = 7;
  counts.failed_failovers = 8;
  for (size_t i = 0; i < kWorkerEnds; ++i) counts.worker_ends[i] = 10 + i;
  counts.recoveries.counts[0] = 1;
  counts.recoveries.counts[3] = 2;
  counts.recoveries.counts.back() = 1;
  counts.recoveries.sum = milliseconds(12'345);
  host.backends[0].shadow.streams = 9;
  host.backends[0].shadow.compared = 100;
  host.backends[0].shadow.differing = 1;
  host.backends[0].shadow.not_compared = 20;
  host.written_off.resize(1);
  RunningHosts running = Running({host});
  running.silent = {{.pid = 1, .reason = "it does not answer"}};
  EXPECT_EQ(
      TextOf(running),
      R"(# HELP bulkhead_up 1 if the bulkheadds of this user could be looked for.
# TYPE bulkhead_up gauge
bulkhead_up 1
# HELP bulkhead_streams_total Streams that got a first worker.
# TYPE bulkhead_streams_total counter
bulkhead_streams_total{application="app",backend="acme"} 4
# HELP bulkhead_frames_total Frames and blocks of samples that applications received.
# TYPE bulkhead_frames_total counter
bulkhead_frames_total{application="app",backend="acme"} 1234567
# HELP bulkhead_session_seconds_total Time for which streams had a worker, whether or not they were read.
# TYPE bulkhead_session_seconds_total counter
bulkhead_session_seconds_total{application="app",backend="acme"} 1.5
# HELP bulkhead_backend_starts_total Starts of a backend's process, failed ones included.
# TYPE bulkhead_backend_starts_total counter
bulkhead_backend_starts_total{application="app",backend="acme"} 2
# HELP bulkhead_worker_ends_total Workers that ended while they had a stream, by cause. protocol: the backend broke the protocol; killed: by another program.
# TYPE bulkhead_worker_ends_total counter
bulkhead_worker_ends_total{application="app",backend="acme",cause="deadline"} 10
bulkhead_worker_ends_total{application="app",backend="acme",cause="protocol"} 11
bulkhead_worker_ends_total{application="app",backend="acme",cause="device_lost"} 12
bulkhead_worker_ends_total{application="app",backend="acme",cause="failed"} 13
bulkhead_worker_ends_total{application="app",backend="acme",cause="sandbox"} 14
bulkhead_worker_ends_total{application="app",backend="acme",cause="memory"} 15
bulkhead_worker_ends_total{application="app",backend="acme",cause="killed"} 16
bulkhead_worker_ends_total{application="app",backend="acme",cause="signal"} 17
bulkhead_worker_ends_total{application="app",backend="acme",cause="exit"} 18
bulkhead_worker_ends_total{application="app",backend="acme",cause="unknown"} 19
# HELP bulkhead_recovery_seconds Time from the report that a stream's worker ended until the stream had another one. Seeking to its place comes after that.
# TYPE bulkhead_recovery_seconds histogram
bulkhead_recovery_seconds_count{application="app",backend="acme"} 4
bulkhead_recovery_seconds_sum{application="app",backend="acme"} 12.345
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.002"} 1
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.005"} 1
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.01"} 1
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.025"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.05"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.1"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.25"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="0.5"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="1"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="2.5"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="5"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="10"} 3
bulkhead_recovery_seconds_bucket{application="app",backend="acme",le="+Inf"} 4
# HELP bulkhead_quarantines_total Backends that were quarantined after too many failures.
# TYPE bulkhead_quarantines_total counter
bulkhead_quarantines_total{application="app",backend="acme"} 3
# HELP bulkhead_poisoned_inputs_total Inputs that killed so many workers at one place that they are refused there.
# TYPE bulkhead_poisoned_inputs_total counter
bulkhead_poisoned_inputs_total{application="app",backend="acme"} 5
# HELP bulkhead_refused_streams_total Streams that were refused without a worker, because of such an input.
# TYPE bulkhead_refused_streams_total counter
bulkhead_refused_streams_total{application="app",backend="acme"} 6
# HELP bulkhead_failovers_total Streams that left a backend that failed for another device.
# TYPE bulkhead_failovers_total counter
bulkhead_failovers_total{application="app",backend="acme"} 7
# HELP bulkhead_failed_failovers_total Streams for which the other device failed as well.
# TYPE bulkhead_failed_failovers_total counter
bulkhead_failed_failovers_total{application="app",backend="acme"} 8
# HELP bulkhead_shadow_streams_total Streams that were drawn for a comparison.
# TYPE bulkhead_shadow_streams_total counter
bulkhead_shadow_streams_total{application="app",backend="acme"} 9
# HELP bulkhead_shadow_frames_total Frames of the streams that were drawn for a comparison with another device, by what it came to.
# TYPE bulkhead_shadow_frames_total counter
bulkhead_shadow_frames_total{application="app",backend="acme",result="same"} 99
bulkhead_shadow_frames_total{application="app",backend="acme",result="different"} 1
bulkhead_shadow_frames_total{application="app",backend="acme",result="not_compared"} 20
# HELP bulkhead_hosts Hosts by the tier of their sandbox. unused: no backend was needed yet.
# TYPE bulkhead_hosts gauge
bulkhead_hosts{application="app",tier="full"} 1
bulkhead_hosts{application="app",tier="reduced"} 0
bulkhead_hosts{application="app",tier="unused"} 0
# HELP bulkhead_backends Hosts by the state of the backend.
# TYPE bulkhead_backends gauge
bulkhead_backends{application="app",backend="acme",state="backing-off"} 0
bulkhead_backends{application="app",backend="acme",state="disabled"} 0
bulkhead_backends{application="app",backend="acme",state="discovered"} 0
bulkhead_backends{application="app",backend="acme",state="draining"} 0
bulkhead_backends{application="app",backend="acme",state="quarantined"} 0
bulkhead_backends{application="app",backend="acme",state="ready"} 1
bulkhead_backends{application="app",backend="acme",state="starting"} 0
# HELP bulkhead_open_sessions Streams that have a worker.
# TYPE bulkhead_open_sessions gauge
bulkhead_open_sessions{application="app",backend="acme"} 1
# HELP bulkhead_backend_memory_bytes Resident memory of a backend's processes. A page that they share counts for each.
# TYPE bulkhead_backend_memory_bytes gauge
bulkhead_backend_memory_bytes{application="app",backend="acme"} 8192
# HELP bulkhead_supervisor_memory_bytes Resident memory of the bulkheadds.
# TYPE bulkhead_supervisor_memory_bytes gauge
bulkhead_supervisor_memory_bytes{application="app"} 4096
# HELP bulkhead_written_off_workers Workers that were killed and that the kernel has not ended.
# TYPE bulkhead_written_off_workers gauge
bulkhead_written_off_workers{application="app"} 1
# HELP bulkhead_silent_hosts Hosts whose bulkheadd did not answer; what is told of them is old or missing.
# TYPE bulkhead_silent_hosts gauge
bulkhead_silent_hosts 1
)");
}

TEST(Metrics, ProcessesOfOneProgramAreAddedUp) {
  RunningHost other = HostWith(5, 9);
  other.command = "backup";
  const std::string text =
      TextOf(Running({HostWith(10, 7), HostWith(20, 8), other}));
  EXPECT_EQ(
      ValueOf(text,
              R"(bulkhead_frames_total{application="app",backend="acme"})"),
      "30");
  EXPECT_EQ(
      ValueOf(text,
              R"(bulkhead_frames_total{application="backup",backend="acme"})"),
      "5");
  EXPECT_EQ(ValueOf(text, R"(bulkhead_hosts{application="app",tier="full"})"),
            "2");
  EXPECT_EQ(
      ValueOf(
          text,
          R"(bulkhead_backend_memory_bytes{application="app",backend="acme"})"),
      "16384");
}

TEST(Metrics, NoFileIsNamed) {
  EXPECT_THAT(TextOf(Running({HostWith(1)})), Not(HasSubstr("clip")));
}

TEST(Metrics, WithoutAnAnswerTheGaugesAreMissing) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(3, 7, seconds(0))}), kBegan);
  const std::string text =
      "\n" + TextOf(Status(Code::kInternal, "no /proc"), totals);
  EXPECT_EQ(ValueOf(text, "bulkhead_up"), "0");
  EXPECT_EQ(
      ValueOf(text,
              R"(bulkhead_frames_total{application="app",backend="acme"})"),
      "3");
  EXPECT_THAT(text, Not(HasSubstr("bulkhead_hosts")));
}

TEST(Metrics, CountersOfAnApplicationThatEndedStay) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(10, 7, seconds(0)), HostWith(5, 8, seconds(0))}),
             kBegan);
  EXPECT_EQ(FramesOf(totals), 15);
  totals.Add(Running({HostWith(7, 8, seconds(1))}), kBegan + seconds(1));
  EXPECT_EQ(FramesOf(totals), 17);
  totals.Add(Running({}), kBegan + seconds(2));
  EXPECT_EQ(FramesOf(totals), 17);
}

TEST(Metrics, AnApplicationThatWasSilentOnceCountsOnce) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(10, 7, seconds(0))}), kBegan);
  totals.Add(Running({}), kBegan + seconds(60));
  totals.Add(Running({HostWith(12, 7, seconds(120))}), kBegan + seconds(120));
  EXPECT_EQ(FramesOf(totals), 12);
}

TEST(Metrics, AnExporterCountsOlderApplicationsFromWhenItStarted) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(100, 7, seconds(3'600))}), kBegan + seconds(1));
  EXPECT_EQ(FramesOf(totals), 0);
  totals.Add(Running({HostWith(130, 7, seconds(3'660))}), kBegan + seconds(61));
  EXPECT_EQ(FramesOf(totals), 30);
}

TEST(Metrics, APidThatIsUsedAgainIsAnotherApplication) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(10, 7, seconds(0))}), kBegan);
  totals.Add(Running({HostWith(4, 7, seconds(1))}), kBegan + seconds(60));
  EXPECT_EQ(FramesOf(totals), 14);
}

TEST(Metrics, ACountThatFallsAddsNothing) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  totals.Add(Running({HostWith(10, 7, seconds(0))}), kBegan);
  totals.Add(Running({HostWith(3, 7, seconds(1))}), kBegan + seconds(1));
  EXPECT_EQ(FramesOf(totals), 10);
}

TEST(Metrics, CountsThatNoApplicationCanReachDoNotWrap) {
  MetricTotals totals(MetricTotals::Since::kStart, kBegan);
  for (int pid = 1; pid < 4; ++pid) {
    RunningHost host = HostWith(UINT64_MAX, pid, milliseconds::max());
    host.counts[0].session_time = milliseconds::max();
    host.counts[0].recoveries.sum = std::chrono::microseconds::max();
    host.backends[0].shadow.differing = 5;
    totals.Add(Running({host}), kBegan);
  }
  const MetricCounts& total = totals.all().at({"app", "acme"});
  EXPECT_EQ(total.backend.frames, UINT64_MAX);
  EXPECT_EQ(total.backend.session_time, milliseconds::max());
  EXPECT_EQ(total.backend.recoveries.sum, std::chrono::microseconds::max());
  EXPECT_EQ(total.frames_same, 0u);
}

// The application that was not seen for the longest time is forgotten.
TEST(Metrics, ThousandsOfApplicationsAreRemembered) {
  MetricTotals totals(MetricTotals::Since::kNow, kBegan);
  for (int pid = 1; pid <= 4'097; ++pid) {
    totals.Add(Running({HostWith(1, pid, milliseconds(0))}),
               kBegan + milliseconds(pid));
  }
  EXPECT_EQ(FramesOf(totals), 4'097u);
  const auto later = kBegan + seconds(10);
  totals.Add(Running({HostWith(1, 4'097, milliseconds(5'903))}), later);
  EXPECT_EQ(FramesOf(totals), 4'097u);
  totals.Add(Running({HostWith(1, 1, milliseconds(9'999))}), later);
  EXPECT_EQ(FramesOf(totals), 4'098u);
}

TEST(Metrics, WhatAPeerNamesIsBounded) {
  RunningHost host = HostWith(1);
  host.command = "/bin/a\"b\\c\xff";
  host.backends[0].state = "no\nstate";
  for (int i = 0; i < 5'000; ++i) {
    host.counts.emplace_back().backend = std::string(100, 'A') + "{\"";
    host.counts.emplace_back().backend = "b" + std::to_string(i);
    host.backends.emplace_back().name = "b" + std::to_string(i);
  }
  MetricTotals totals(MetricTotals::Since::kStart, kBegan);
  for (int pid = 1; pid < 5; ++pid) {
    host.supervisor_pid = pid;
    host.command += std::to_string(pid);
    totals.Add(Running({host}), kBegan);
  }
  EXPECT_LE(totals.all().size(), 257u);
  EXPECT_TRUE(totals.all().contains({"other", "other"}));
  EXPECT_TRUE(totals.all().contains({"a_b_c_1", std::string(64, 'A')}));
  const std::string text = TextOf(Running({host}), totals);
  EXPECT_LT(text.size(), 2'000'000u);
  EXPECT_THAT(text, Not(HasSubstr("state=\"no")));
}

TEST(ServerAddress, IsNumericAndHasAPort) {
  EXPECT_EQ(ToServerAddress("9464").value(), "127.0.0.1:9464");
  EXPECT_EQ(ToServerAddress("0.0.0.0:9464").value(), "0.0.0.0:9464");
  EXPECT_EQ(ToServerAddress("[::1]:0").value(), "[::1]:0");
  for (const char* wrong :
       {"", ":9464", "localhost:9464", "127.0.0.1", "127.0.0.1:", "99999",
        "127.0.0.1:9464s", "127.0.0.1:1,0.0.0.0:2", "::1:9464",
        "x/tmp/socket"}) {
    EXPECT_FALSE(ToServerAddress(wrong)) << wrong;
  }
}

// Both end before a server is started.
TEST(Metrics, SayWhyTheyCannotBeServed) {
  ipc::UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(taken.get(), any, bytes), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), any, &bytes), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  EXPECT_EQ(ServeMetrics("127.0.0.1:" + port).message(),
            "cannot listen on 127.0.0.1:" + port +
                ": another program listens there, `ss -ltnp` names it; end it "
                "or give --listen another port (0: one that is free)");
  // An address for documentation, which no machine has.
  EXPECT_EQ(ServeMetrics("192.0.2.1:9464").message(),
            "cannot listen on 192.0.2.1:9464: this machine has no such "
            "address, `ip address` lists those that it has; give --listen one "
            "of them, or a port alone");
}

}  // namespace
}  // namespace bulkhead::cli::metrics
