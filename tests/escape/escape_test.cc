// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bulkhead/host.h"
#include "ipc/unique_fd.h"
#include "tests/escape/listeners.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

volatile char secret[8] = "secret!";
std::atomic<int> signals_received = 0;

void CountSignal(int) { ++signals_received; }

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The application that the backend `escape` attacks.
class Escape : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    media_ = ClipOrSkip(Clip::kOddSize);
    if (media_.empty()) return;
    before_ = ReadAll(media_);
    // Makes the file writable, so that only the read-only descriptor protects
    // it.
    ASSERT_EQ(chmod(media_.c_str(), 0666), 0);
    ASSERT_NE(signal(SIGUSR1, CountSignal), SIG_ERR);
    signals_received = 0;

    tcp_ = ListenTcp(&tcp_port_);
    ASSERT_TRUE(tcp_);
    // Not in TEST_TMPDIR, whose path may be too long for the name of a socket.
    char directory[] = "/tmp/escape-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    ASSERT_EQ(chmod(directory, 0777), 0);
    directory_ = directory;
    unix_ = ListenUnix(directory_ + "/socket");
    ASSERT_TRUE(unix_);
    ASSERT_EQ(chmod((directory_ + "/socket").c_str(), 0777), 0);
    abstract_ = ListenUnix(std::string(1, '\0') + AbstractName());
    ASSERT_TRUE(abstract_);
  }

  void TearDown() override {
    signal(SIGUSR1, SIG_DFL);
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  // Opens a stream, which always fails, and returns the failure. Returns
  // nullopt if the test was skipped.
  std::optional<Status> Attack(const std::string& zygote_attempt,
                               const std::string& worker_attempt) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.plugin_path = {Install(zygote_attempt)};
    options.autoload = true;
    options.limits.attempts_per_position = 1;
    const auto host = Host::Create(options).value();
    if (host->Sandbox().value().tier != SandboxTier::kFull) return std::nullopt;
    VideoOptions video;
    video.device = "escape";
    video.backend_options = {{"attempt", worker_attempt}};
    const auto opened = host->OpenVideo(media_, video);
    EXPECT_FALSE(opened);
    return opened ? Status() : opened.error();
  }

  void ExpectUnharmed() {
    EXPECT_EQ(ReadAll(media_), before_) << "the input was written";
    EXPECT_EQ(signals_received, 0) << "the application was signalled";
    for (const auto* listener : {&tcp_, &unix_, &abstract_}) {
      EXPECT_LT(accept(listener->get(), nullptr, nullptr), 0) << "connected";
    }
  }

 private:
  static std::string AbstractName() {
    return "bulkhead-escape-" + std::to_string(getpid());
  }

  // Installs the distribution with one further file, which names the targets.
  std::string Install(const std::string& zygote_attempt) {
    const fs::path plugins = directory_ + "/plugins";
    CopyForAll(DistributionDirectory(), plugins);
    std::ofstream(plugins / "bulkhead_escape" / "targets.txt")
        << "application_pid " << getpid() << "\napplication_secret "
        << reinterpret_cast<uintptr_t>(&secret) << "\ntcp_port " << tcp_port_
        << "\nunix_path " << directory_ << "/socket\nabstract_name "
        << AbstractName() << "\nmedia_bytes " << before_.size()
        << "\nzygote_attempt " << zygote_attempt << "\n";
    std::ofstream(plugins / "bulkhead_escape-0.1.0.dist-info" / "RECORD",
                  std::ios::app)
        << "bulkhead_escape/targets.txt,,\n";
    return plugins;
  }

  std::string media_;
  std::string before_;
  std::string directory_;
  ipc::UniqueFd tcp_;
  ipc::UniqueFd unix_;
  ipc::UniqueFd abstract_;
  int tcp_port_ = 0;
};

bool Says(const Status& status, const std::string& text) {
  return status.message().find(text) != std::string::npos;
}

// Returns whether the attempt was refused, with an errno or by killing the
// process.
bool IsRefusal(const Status& status, const std::string& process) {
  if (Says(status, process + ": ESCAPED")) return false;
  if (Says(status, process + ": refused")) return true;
  const ExitReport* report = status.exit_report();
  if (report != nullptr) {
    return report->kind == ExitReport::Kind::kSandboxViolation;
  }
  return Says(status, "killed by its sandbox");
}

using FromWorker = Escape;

TEST_P(FromWorker, IsRefused) {
  const auto status = Attack("none", GetParam());
  if (!status) GTEST_SKIP() << "no full sandbox on this machine";
  EXPECT_TRUE(IsRefusal(*status, "worker")) << *status;
  ExpectUnharmed();
}

INSTANTIATE_TEST_SUITE_P(
    Attempts, FromWorker,
    testing::Values("read_passwd", "read_own_file", "application_memory",
                    "reaper_memory", "trace_reaper", "connect_tcp",
                    "connect_unix", "connect_abstract", "exec", "fork",
                    "signal_application", "write_input", "change_shared_flags",
                    "map_executable", "run_memory_file", "write_own_file",
                    "make_file", "namespace", "mount", "io_uring"),
    [](const auto& attempt) { return std::string(attempt.param); });

using FromZygote = Escape;

TEST_P(FromZygote, IsRefused) {
  const auto status = Attack(GetParam(), "control");
  if (!status) GTEST_SKIP() << "no full sandbox on this machine";
  if (Says(*status, "worker: ESCAPED")) {
    EXPECT_TRUE(Says(*status, "zygote: refused")) << *status;
  } else {
    EXPECT_TRUE(IsRefusal(*status, "zygote")) << *status;
  }
  ExpectUnharmed();
}

INSTANTIATE_TEST_SUITE_P(
    Attempts, FromZygote,
    testing::Values("read_passwd", "application_memory", "reaper_memory",
                    "trace_reaper", "connect_tcp", "connect_unix",
                    "connect_abstract", "exec", "signal_application",
                    "write_own_file", "make_file", "namespace", "mount",
                    "io_uring"),
    [](const auto& attempt) { return std::string(attempt.param); });

TEST_F(Escape, AttemptThatSucceedsIsSeen) {
  const auto status = Attack("read_own_file", "control");
  if (!status) GTEST_SKIP() << "no full sandbox on this machine";
  EXPECT_TRUE(Says(*status, "zygote: ESCAPED")) << *status;
  EXPECT_TRUE(Says(*status, "worker: ESCAPED")) << *status;
}

}  // namespace
}  // namespace bulkhead::tests
