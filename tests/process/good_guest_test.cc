// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::vector<std::string> OpenDescriptors() {
  std::vector<std::string> descriptors;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    descriptors.push_back(entry.path().filename().string() + " " +
                          target.string());
  }
  return descriptors;
}

size_t CountThreads() {
  size_t threads = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

// Counts the mappings of memory files, in which sessions keep their memory.
size_t CountSharedMappings() {
  std::ifstream maps("/proc/self/maps");
  size_t mappings = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:") != std::string::npos) ++mappings;
  }
  return mappings;
}

// Tests what the library promises not to do to its process.
class GoodGuest : public testing::Test {
 protected:
  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  std::unique_ptr<Host> NewHost() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    return Host::Create(options).value();
  }

  void DecodeSome(Host& host, const std::string& device, int frames = 3) {
    VideoDecoder video = host.OpenVideo(clip_, {.device = device}).value();
    for (int i = 0; i < frames; ++i) ASSERT_TRUE(video.Next().value());
  }

 private:
  std::string clip_;
};

TEST_F(GoodGuest, HasNoChildAndSendsNoSigchld) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &child, nullptr), 0);
  const timespec now = {};
  while (sigtimedwait(&child, nullptr, &now) > 0) {
  }
  {
    const auto host = NewHost();
    DecodeSome(*host, "cpu");
    DecodeSome(*host, "openreg:1");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
    EXPECT_EQ(errno, ECHILD);
    // The next bulkheadd is started without side effects too.
    const ProcessWatch supervisor(host->supervisor_pid());
    ASSERT_TRUE(supervisor.Signal(SIGKILL));
    ASSERT_TRUE(supervisor.AwaitEnd());
    DecodeSome(*host, "cpu");
    EXPECT_NE(host->supervisor_pid(), supervisor.pid());
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(sigtimedwait(&child, nullptr, &now), -1) << "SIGCHLD came";
}

TEST_F(GoodGuest, ChangesNoSignalHandlerAndStartsNoThread) {
  const auto host = NewHost();
  DecodeSome(*host, "cpu");
  DecodeSome(*host, "openreg:0");
  ExpectOutcome(Fault(54), "threads of the application", "1",
                std::to_string(CountThreads()));
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action = {};
    ASSERT_EQ(sigaction(signal, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << strsignal(signal);
  }
}

TEST_F(GoodGuest, FiftySessionsLeakNothing) {
  const auto before = OpenDescriptors();
  const size_t mapped = CountSharedMappings();
  {
    const auto host = NewHost();
    DecodeSome(*host, "cpu");
    DecodeSome(*host, "openreg:0");
    const auto idle = OpenDescriptors();
    const size_t mapped_idle = CountSharedMappings();
    for (int i = 0; i < 25; ++i) {
      DecodeSome(*host, "cpu", i % 5);
      DecodeSome(*host, "openreg:1", i % 5);
    }
    EXPECT_EQ(OpenDescriptors().size(), idle.size());
    EXPECT_EQ(CountSharedMappings(), mapped_idle);
  }
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(CountSharedMappings(), mapped);
}

TEST_F(GoodGuest, ReplacedWorkersLeakNothing) {
  const auto host = NewHost();
  DecodeSome(*host, "cpu");
  const auto idle = OpenDescriptors();
  const size_t mapped = CountSharedMappings();
  {
    VideoDecoder video =
        host->OpenVideo(Generate(Clip::kH264).value(), {}).value();
    for (int i = 0; i < 20; ++i) {
      ProcessWatch(video.worker_pid()).Signal(SIGKILL);
      for (int j = 0; j < 10; ++j) {
        if (!video.Next().value()) video.Rewind();
      }
    }
  }
  EXPECT_EQ(OpenDescriptors().size(), idle.size());
  EXPECT_EQ(CountSharedMappings(), mapped);
}

TEST_F(GoodGuest, FiftyHostsLeakNothing) {
  const auto before = OpenDescriptors();
  for (int i = 0; i < 50; ++i) NewHost();
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(GoodGuest, EveryDescriptorIsClosedOnExec) {
  const auto before = OpenDescriptors();
  const auto host = NewHost();
  VideoDecoder video =
      host->OpenVideo(Generate(Clip::kH264).value(), {}).value();
  const auto frame = video.Next().value();
  size_t ours = 0;
  for (const std::string& descriptor : OpenDescriptors()) {
    if (std::count(before.begin(), before.end(), descriptor) > 0) continue;
    const int flags = fcntl(std::stoi(descriptor), F_GETFD);
    // The descriptor through which the list was read is already closed.
    if (flags < 0) continue;
    EXPECT_TRUE(flags & FD_CLOEXEC) << descriptor;
    ++ours;
  }
  EXPECT_GE(ours, 3u);
}

// Closes the standard descriptors during its life.
class NoStandardDescriptors {
 public:
  NoStandardDescriptors() {
    for (int fd = 0; fd < 3; ++fd) {
      saved_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
      close(fd);
    }
  }
  ~NoStandardDescriptors() {
    for (int fd = 0; fd < 3; ++fd) {
      dup2(saved_[fd], fd);
      close(saved_[fd]);
    }
  }
  // Returns what the standard descriptors are now; empty if they are free.
  static std::string Taken() {
    std::string taken;
    for (int fd = 0; fd < 3; ++fd) {
      std::error_code free;
      const auto target = std::filesystem::read_symlink(
          "/proc/self/fd/" + std::to_string(fd), free);
      if (!free) taken += std::to_string(fd) + ": " + target.string() + "\n";
    }
    return taken;
  }

 private:
  int saved_[3];
};

TEST_F(GoodGuest, TakesNoStandardDescriptor) {
  const std::string clip = Generate(Clip::kH264).value();
  std::string taken;
  size_t frames = 0;
  Status status;
  {
    const NoStandardDescriptors none;
    const auto host = NewHost();
    taken += NoStandardDescriptors::Taken();
    const int fd = fcntl(open(clip.c_str(), O_RDONLY), F_DUPFD_CLOEXEC, 50);
    for (int closed = 0; closed < 3; ++closed) close(closed);
    const auto memory = Source::FromMemory(std::vector<std::byte>(100));
    const auto descriptor = Source::FromDescriptor(fd, "clip.mp4");
    close(fd);
    taken += NoStandardDescriptors::Taken();
    for (const Source& source : {Source(clip), *descriptor}) {
      Result<VideoDecoder> video = host->OpenVideo(source);
      if (!video) {
        status = video.error();
        break;
      }
      taken += NoStandardDescriptors::Taken();
      for (int i = 0; i < 20; ++i) frames += video->Next().value() ? 1 : 0;
      ProcessWatch(video->worker_pid()).Signal(SIGKILL);
      for (int i = 0; i < 20; ++i) frames += video->Next().value() ? 1 : 0;
      taken += NoStandardDescriptors::Taken();
    }
    ProcessWatch(host->supervisor_pid()).Signal(SIGKILL);
    Result<VideoDecoder> again = host->OpenVideo(clip);
    taken += NoStandardDescriptors::Taken();
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(taken, "");
  EXPECT_EQ(frames, 80u);
}

TEST_F(GoodGuest, ReapsEachBulkheaddThatASubreaperInherits) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  auto host = NewHost();
  const pid_t first = host->supervisor_pid();
  DecodeSome(*host, "cpu");
  siginfo_t ended = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &ended,
                   WEXITED | WNOHANG | WNOWAIT),
            0)
      << "it is no child, so this test tests nothing";
  ASSERT_EQ(kill(first, SIGKILL), 0);
  DecodeSome(*host, "cpu");
  const pid_t second = host->supervisor_pid();
  ASSERT_NE(second, first);
  host.reset();
  for (const pid_t pid : {first, second}) {
    EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1) << pid;
    EXPECT_EQ(errno, ECHILD);
  }
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
  // What bulkheadd left, as host.h says to such applications.
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST_F(GoodGuest, NothingIsLeftOnceHostAndDecodersAreGone) {
  std::vector<ProcessWatch> processes;
  {
    const auto host = NewHost();
    VideoDecoder first =
        host->OpenVideo(Generate(Clip::kH264).value(), {}).value();
    DecodeSome(*host, "openreg:0");
    processes.emplace_back(host->supervisor_pid());
    const BackendReport report = host->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.reaper_pid > 0) processes.emplace_back(backend.reaper_pid);
      if (backend.zygote_pid > 0) processes.emplace_back(backend.zygote_pid);
      for (int pid : backend.session_pids) processes.emplace_back(pid);
    }
    ASSERT_GE(processes.size(), 6u);
  }
  EXPECT_TRUE(AwaitEndOfAll(processes).empty());
}

}  // namespace
}  // namespace bulkhead::tests
