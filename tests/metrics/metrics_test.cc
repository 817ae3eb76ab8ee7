// SPDX-License-Identifier: Apache-2.0
//
// Tests what operators count: what bulkheadd counts of a backend that fails,
// and that `bulkhead metrics` says it to promtool and to a real server of
// Prometheus, whose alert fires.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "ipc/unique_fd.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr milliseconds kSoon{60'000};
constexpr uint64_t kFrames = 120;
constexpr char kNoPrometheus[] =
    "prometheus is not there; tools/setup --fleet installs it";

// The path of a program, or an empty string.
std::string InPath(const std::string& program) {
  const auto found =
      RunProgram({"sh", "-c", "command -v " + program}, {}).output;
  return found.substr(0, found.find('\n'));
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port on which nobody listens. Others of this network namespace could take
// it before the caller does.
int FreePort() {
  const ipc::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes),
            0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address),
                          &bytes),
            0);
  return ntohs(address.sin_port);
}

// Returns a connection to a server, or no descriptor if nobody listens there
// yet.
ipc::UniqueFd Connect(int port) {
  ipc::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof(address)) != 0) {
    return ipc::UniqueFd();
  }
  return socket;
}

// Returns the answer of a server to a request, or an empty string if nobody
// listens there yet.
std::string Get(int port, const std::string& path,
                const std::string& host = "localhost") {
  const ipc::UniqueFd socket = Connect(port);
  if (!socket) return "";
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
               sizeof(patience));
  const std::string request =
      "GET " + path + " HTTP/1.0\r\nHost: " + host + "\r\n\r\n";
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return "";
  }
  std::string answer;
  char part[4'096];
  for (ssize_t got; (got = ::read(socket.get(), part, sizeof(part))) > 0;) {
    answer.append(part, static_cast<size_t>(got));
  }
  return answer;
}

class MetricsOfAHost : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    HostOptions options = installation_.options();
    options.deadlines.seek = kShort;
    options.deadlines.frame = kShort;
    host_ = Host::Create(options).value();
  }

  // Decodes the clip to its end; returns why not.
  Status Decode(const std::string& faults = "") {
    auto video = host_->OpenVideo(clip_, installation_.Stream(faults));
    if (!video) return video.error();
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
    }
  }

  std::optional<RunningHost> Mine() {
    const auto running = FindRunningHosts(milliseconds(0));
    if (!running) return std::nullopt;
    for (const RunningHost& host : running->hosts) {
      if (host.supervisor_pid == host_->supervisor_pid()) return host;
    }
    return std::nullopt;
  }
  BackendCounts Counts() {
    const auto host = Mine();
    if (!host) {
      ADD_FAILURE() << "the host was not found";
      return {};
    }
    for (const BackendCounts& counts : host->counts) {
      if (counts.backend == "chaos") return counts;
    }
    ADD_FAILURE() << "nothing was counted";
    return {};
  }
  static uint64_t Recoveries(const BackendCounts& counts) {
    return std::accumulate(counts.recoveries.counts.begin(),
                           counts.recoveries.counts.end(), uint64_t{0});
  }
  static uint64_t Ends(const BackendCounts& counts) {
    return std::accumulate(counts.worker_ends.begin(), counts.worker_ends.end(),
                           uint64_t{0});
  }

  static ProgramResult Cli(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    return RunProgram(arguments, {});
  }

  ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
};

TEST_F(MetricsOfAHost, CountWhatHappensToStreams) {
  ASSERT_TRUE(host_);
  ASSERT_TRUE(Decode().ok());
  BackendCounts counts = Counts();
  EXPECT_EQ(counts.starts, 1u);
  EXPECT_EQ(counts.streams, 1u);
  EXPECT_EQ(counts.frames, kFrames);
  EXPECT_GT(counts.session_time.count(), 0);
  EXPECT_EQ(Ends(counts), 0u);

  // Workers that end and are replaced: no frame counts twice.
  const std::pair<const char*, WorkerEnd> ends[] = {
      {"at=packet:9 do=segfault lives=1-2", WorkerEnd::kSignal},
      {"at=packet:9 do=exit:7 lives=1-2", WorkerEnd::kExit},
      {"at=packet:9 do=hang lives=1-2", WorkerEnd::kDeadline}};
  uint64_t streams = 1;
  for (const auto& [faults, end] : ends) {
    SCOPED_TRACE(faults);
    const Status decoded = Decode(faults);
    ASSERT_TRUE(decoded.ok()) << decoded;
    ++streams;
    counts = Counts();
    EXPECT_EQ(counts.ends(end), 2u);
    EXPECT_EQ(Ends(counts), 2 * (streams - 1));
    EXPECT_EQ(Recoveries(counts), 2 * (streams - 1));
    EXPECT_EQ(counts.streams, streams);
    EXPECT_EQ(counts.frames, kFrames * streams);
  }
  EXPECT_GT(counts.recoveries.sum.count(), 0);

  // A breach of the ABI, after which nothing is replayed.
  EXPECT_EQ(Decode("at=packet:9 do=error:1234").code(),
            Code::kBackendMisbehaved);
  ++streams;
  uint64_t frames = counts.frames;
  counts = Counts();
  EXPECT_EQ(counts.ends(WorkerEnd::kProtocol), 1u);
  EXPECT_EQ(counts.streams, streams);
  EXPECT_LT(counts.frames, frames + kFrames);
  frames = counts.frames;

  // An end by another program.
  auto video = host_->OpenVideo(clip_, installation_.Stream()).value();
  ASSERT_TRUE(video.Next().value());
  EXPECT_EQ(Counts().frames, frames + 1) << "of an open stream";
  const auto host = Mine();
  ASSERT_TRUE(host);
  int worker = 0;
  for (const RunningBackend& backend : host->backends) {
    if (!backend.sessions.empty()) worker = backend.sessions[0].worker_pid;
  }
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  while (video.Next().value()) {
  }
  EXPECT_EQ(Counts().ends(WorkerEnd::kKilled), 1u);

  // The counts go on in the next life of the backend.
  ASSERT_TRUE(host_->Restart("chaos").ok());
  ASSERT_TRUE(Decode().ok());
  counts = Counts();
  EXPECT_EQ(counts.starts, 2u);
  EXPECT_EQ(counts.frames, frames + 2 * kFrames);
  EXPECT_EQ(counts.poisoned_inputs, 0u);
}

TEST_F(MetricsOfAHost, CountInputsThatAreRefused) {
  ASSERT_TRUE(host_);
  const char* deadly = "at=open do=segfault";
  EXPECT_EQ(Decode(deadly).code(), Code::kPoisonedInput);
  EXPECT_EQ(Counts().poisoned_inputs, 1u);
  EXPECT_EQ(Counts().refused_streams, 0u);
  EXPECT_EQ(Decode(deadly).code(), Code::kPoisonedInput);
  EXPECT_EQ(Counts().poisoned_inputs, 1u);
  EXPECT_EQ(Counts().refused_streams, 1u);
  EXPECT_EQ(Counts().ends(WorkerEnd::kSignal), 3u);
}

TEST_F(MetricsOfAHost, CountAQuarantine) {
  ASSERT_TRUE(host_);
  installation_.SetFaults("at=load do=abort");
  EXPECT_TRUE(Await(
      [this] {
        EXPECT_FALSE(Decode().ok());
        for (const BackendInfo& backend : host_->Backends().value().backends) {
          if (backend.name == "chaos") return backend.state == "quarantined";
        }
        return false;
      },
      kSoon));
  EXPECT_EQ(Counts().quarantines, 1u);
  EXPECT_EQ(Counts().starts, 5u);
  EXPECT_THAT(Cli({"metrics"}).output,
              HasSubstr("backend=\"chaos\",state=\"quarantined\"} 1\n"));
}

TEST_F(MetricsOfAHost, ArePrintedAsPromtoolWantsThem) {
  ASSERT_TRUE(host_);
  if (InPath("promtool").empty()) GTEST_SKIP() << kNoPrometheus;
  ASSERT_TRUE(Decode("at=packet:9 do=segfault lives=1").ok());
  const ProgramResult printed = Cli({"metrics"});
  EXPECT_EQ(printed.exit_code, 0) << printed.Describe();
  EXPECT_THAT(printed.output,
              HasSubstr("backend=\"chaos\",cause=\"signal\"} 1\n"));
  const std::string file = TemporaryDirectory() + "/metrics";
  std::ofstream(file) << printed.output;
  const ProgramResult checked =
      RunProgram({"sh", "-c", "promtool check metrics < " + file}, {});
  EXPECT_EQ(checked.exit_code, 0) << checked.Describe();
  EXPECT_EQ(checked.output + checked.errors, "");
}

TEST(AlertRules, FireWhenTheyShould) {
  if (InPath("promtool").empty()) GTEST_SKIP() << kNoPrometheus;
  const ProgramResult tested = RunProgram(
      {"promtool", "test", "rules", PathFromEnvironment("BULKHEAD_RULES_TEST")},
      {});
  EXPECT_EQ(tested.exit_code, 0) << tested.Describe();
}

// `bulkhead metrics --listen`, on a port that the kernel chose.
class Exporter {
 public:
  Exporter() {
    // Its words go to stderr, and RunningProgram reads stdout. The shell says
    // how it ended.
    program_ = RunningProgram::Start(
        {"sh", "-c",
         "\"$0\" metrics --listen 0 2>&1 & trap \"kill $!\" TERM; "
         "wait $!; wait $!; echo \"exit $?\"",
         PathFromEnvironment("BULKHEAD_TEST_CLI")});
    const std::string said = program_->ReadLine(kSoon).value_or("");
    EXPECT_THAT(said, StartsWith("serving http://127.0.0.1:"));
    port_ = std::atoi(said.c_str() + said.rfind(':') + 1);
    EXPECT_GT(port_, 0);
  }
  int port() const { return port_; }
  // Returns the shell's word of how the exporter ended.
  std::string End() {
    program_->Kill(SIGTERM);
    return program_->ReadLine(kSoon).value_or("nothing");
  }

 private:
  std::unique_ptr<RunningProgram> program_;
  int port_ = 0;
};

TEST_F(MetricsOfAHost, AreServedUntilSigterm) {
  ASSERT_TRUE(host_);
  Exporter exporter;
  EXPECT_THAT(Get(exporter.port(), "/metrics"), HasSubstr("bulkhead_up 1\n"));
  ASSERT_TRUE(Decode().ok());
  const std::string frames = "backend=\"chaos\"} " + std::to_string(kFrames);
  EXPECT_THAT(Get(exporter.port(), "/metrics"), HasSubstr(frames));
  EXPECT_THAT(Get(exporter.port(), "/etc/passwd"), HasSubstr(" 404 "));
  // What an application counted stays when it has ended.
  host_.reset();
  EXPECT_THAT(Get(exporter.port(), "/metrics"), HasSubstr(frames));
  EXPECT_EQ(exporter.End(), "exit 0");
}

// A web page whose own name was made to lead here reads no metrics.
TEST_F(MetricsOfAHost, AreServedUnderNoStrangersName) {
  ASSERT_TRUE(host_);
  Exporter exporter;
  const std::string port = std::to_string(exporter.port());
  for (const std::string& host :
       {std::string("localhost"), "LOCALHOST:" + port, std::string("127.0.0.1"),
        "127.0.0.1:" + port, "[::1]:" + port}) {
    EXPECT_THAT(Get(exporter.port(), "/metrics", host),
                HasSubstr("bulkhead_up 1\n"))
        << host;
  }
  for (const char* host :
       {"rebound.example", "rebound.example:", "127.0.0.1.rebound.example",
        "localhost.rebound.example", "[rebound.example]", "", ":"}) {
    const std::string answer = Get(exporter.port(), "/metrics", host);
    const bool refused = answer.find(" 421 ") != std::string::npos;
    ExpectOutcome(Escape(84), std::string("metrics under the name ") + host,
                  "421", refused ? "421" : answer);
    EXPECT_THAT(answer, Not(HasSubstr("bulkhead_"))) << host;
  }
  EXPECT_EQ(exporter.End(), "exit 0");
}

TEST_F(MetricsOfAHost, AreServedBesideConnectionsThatSendNoRequest) {
  ASSERT_TRUE(host_);
  constexpr int kStalled = 300;
  Exporter exporter;
  std::vector<ipc::UniqueFd> stalled;
  for (int i = 0; i < kStalled; ++i) {
    stalled.push_back(Connect(exporter.port()));
    ASSERT_TRUE(stalled.back());
    // Every other one begins a request.
    if (i % 2 == 0) {
      ASSERT_EQ(::send(stalled.back().get(), "G", 1, MSG_NOSIGNAL), 1);
    }
  }
  EXPECT_THAT(Get(exporter.port(), "/metrics"), HasSubstr("bulkhead_up 1\n"));
  EXPECT_EQ(exporter.End(), "exit 0");
}

TEST_F(MetricsOfAHost, RaiseAnAlertInPrometheusWhenABackendCrashLoops) {
  ASSERT_TRUE(host_);
  if (InPath("prometheus").empty()) GTEST_SKIP() << kNoPrometheus;
  Exporter exporter;
  const std::string directory = TemporaryDirectory() + "/prometheus";
  fs::create_directory(directory);
  std::ofstream(directory + "/prometheus.yml")
      << "global: {scrape_interval: 200ms, scrape_timeout: 200ms, "
         "evaluation_interval: 200ms}\n"
         "rule_files: ["
      << PathFromEnvironment("BULKHEAD_RULES")
      << "]\n"
         "scrape_configs:\n"
         "  - job_name: bulkhead\n"
         "    static_configs: [{targets: ['127.0.0.1:"
      << exporter.port() << "']}]\n";
  const int port = FreePort();
  const auto server = RunningProgram::Start(
      {"sh", "-c",
       "exec prometheus --config.file=\"$0/prometheus.yml\" "
       "--storage.tsdb.path=\"$0/data\" --web.listen-address=127.0.0.1:" +
           std::to_string(port) + " 2> \"$0/log\"",
       directory});
  ASSERT_TRUE(server);
  const auto alerts = [port] { return Get(port, "/api/v1/alerts"); };
  const auto value = [port](const std::string& expression) {
    return Get(port, "/api/v1/query?query=" + expression);
  };
  // Streams that crash now and then raise nothing.
  ASSERT_TRUE(Decode("at=packet:9 do=segfault lives=1").ok());
  ASSERT_TRUE(Await(
      [&] {
        return value("bulkhead_worker_ends_total").find("\"signal\"") !=
               std::string::npos;
      },
      kSoon));
  EXPECT_THAT(alerts(), HasSubstr("\"alerts\":[]"));
  std::string told;
  EXPECT_TRUE(Await(
      [&] {
        EXPECT_TRUE(Decode("at=packet:9 do=segfault lives=1-2").ok());
        told = alerts();
        return told.find("\"state\":\"firing\"") != std::string::npos;
      },
      kSoon));
  EXPECT_THAT(told, HasSubstr("BulkheadBackendCrashLoops"));
  EXPECT_THAT(told, HasSubstr("\"backend\":\"chaos\""));
  EXPECT_THAT(told, HasSubstr("\"state\":\"firing\""));
  server->Kill(SIGTERM);
  EXPECT_EQ(exporter.End(), "exit 0");
}

}  // namespace
}  // namespace bulkhead::tests
