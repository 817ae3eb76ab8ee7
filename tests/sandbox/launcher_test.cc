// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/launcher.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/lockdown.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/probe.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/support/nobody.h"
#include "tests/support/refusals.h"

// Tests the whole chain: the launcher, the real reaper, and in place of the
// worker a program that tries to leave the sandbox (escaping_worker.cc).

namespace bulkhead::sandbox {
namespace {

namespace schema = ipc::schema;

constexpr char kReaper[] = "backends/worker/reaper/bulkhead-reaper";
constexpr char kWorker[] = "tests/sandbox/escaping_worker";

ipc::Deadline Soon() {
  return ipc::Deadline::After(std::chrono::milliseconds(60'000));
}

bool BecomesReadable(int fd) {
  pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 60'000) == 1;
}

ipc::UniqueFd Pidfd(pid_t pid) {
  return ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

// A process that takes the application's place: the reaper watches its pidfd.
class Application : public ipc::ForkedChild {
 public:
  Application() : ForkedChild(Sleeping()) {}
};

// Sockets to which a worker without a sandbox could connect.
class Listeners {
 public:
  explicit Listeners(const std::string& directory)
      : socket_path(directory + "/s") {
    tcp_ = ipc::UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(tcp_.get(), 8);
    socklen_t bytes = sizeof(address);
    getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
    port = ntohs(address.sin_port);

    unix_ = ipc::UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    socket_path.copy(local.sun_path, sizeof(local.sun_path) - 1);
    bind(unix_.get(), reinterpret_cast<sockaddr*>(&local), sizeof(local));
    chmod(socket_path.c_str(), 0777);
    listen(unix_.get(), 8);
  }

  std::string socket_path;
  uint16_t port;

 private:
  ipc::UniqueFd tcp_;
  ipc::UniqueFd unix_;
};

using Facts = std::map<std::string, std::string>;

struct Setting {
  Tier tier;
  bool root;
};

class LauncherTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become other users";
    // A supplementary group, which no backend of root may keep.
    const gid_t group = tests::kNobody;
    ASSERT_EQ(setgroups(1, &group), 0);
    char name[] = "/tmp/bulkhead-launcher-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    chmod(name, 0755);
    reaper_executable_ = ipc::UniqueFd(open(kReaper, O_PATH | O_CLOEXEC));
    worker_executable_ = ipc::UniqueFd(open(kWorker, O_PATH | O_CLOEXEC));
    ASSERT_TRUE(reaper_executable_);
    ASSERT_TRUE(worker_executable_);
    plugin_.object_path = directory_ + "/libplugin.so";
    plugin_.entry_symbol = "entry";
    std::ofstream(plugin_.object_path) << "plugin";
    plugin_.files = {{plugin_.object_path,
                      ResolveReadable(plugin_.object_path).value().identity}};
    chmod(plugin_.object_path.c_str(), 0644);
  }

  void TearDown() override {
    if (directory_.empty()) return;
    unlink((directory_ + "/s").c_str());
    unlink(plugin_.object_path.c_str());
    rmdir(directory_.c_str());
  }

  // Runs the body of a test as the user of the parameter.
  static void AsUser(const std::function<void()>& body) {
    GetParam().root ? body() : tests::RunAsNobody({}, body);
  }

  Result<LaunchedReaper> Start(const Application& application) {
    auto policy = MakePolicy(plugin_, {});
    if (!policy) return policy.error();
    auto lockdown = CompileLockdown(*policy, plugin_, Forbidden::kKill);
    if (!lockdown) return lockdown.error();
    const ipc::UniqueFd object(
        open(plugin_.object_path.c_str(), O_RDONLY | O_CLOEXEC));
    std::optional<uint32_t> outside_id;
    if (geteuid() == 0) outside_id = OutsideId(getpid(), 1);
    return Launch({.tier = GetParam().tier,
                   .policy = *policy,
                   .reaper_executable = reaper_executable_.get(),
                   .worker_executable = worker_executable_.get(),
                   .plugin = object.get(),
                   .lockdown = lockdown->get(),
                   .application = application.pidfd(),
                   .outside_id = outside_id,
                   .deadline = Soon()});
  }

  static std::string Hear(const LaunchedReaper& reaper) {
    if (!BecomesReadable(reaper.zygote_control.get())) return "silence";
    char packet[512];
    const ssize_t bytes =
        recv(reaper.zygote_control.get(), packet, sizeof(packet), 0);
    return bytes > 0 ? std::string(packet, static_cast<size_t>(bytes))
                     : "closed";
  }

  static void Say(const LaunchedReaper& reaper, const std::string& text) {
    ASSERT_EQ(send(reaper.zygote_control.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }

  // Receives facts up to and including `last`, which is "NAME" or "NAME=...".
  static Facts HearUntil(const LaunchedReaper& reaper,
                         const std::string& last) {
    Facts facts;
    while (true) {
      const std::string packet = Hear(reaper);
      const size_t equals = packet.find('=');
      const std::string name = packet.substr(0, equals);
      facts[name] =
          equals == std::string::npos ? "" : packet.substr(equals + 1);
      if (name == last) return facts;
      if (packet == "silence" || packet == "closed" || name == "failed") {
        ADD_FAILURE() << packet << " instead of " << last;
        return facts;
      }
    }
  }

  static std::optional<ipc::ReceivedMessage> Event(
      const LaunchedReaper& reaper) {
    auto event = ipc::ReceiveMessage(reaper.control.get(), 1, Soon());
    if (!event || !*event) {
      ADD_FAILURE() << (event ? "closed" : event.error().message);
      return std::nullopt;
    }
    return std::move(**event);
  }

  static pid_t HearStarted(const LaunchedReaper& reaper) {
    auto event = Event(reaper);
    if (!event) return -1;
    const auto started = *event->root<schema::ReaperEvent>();
    EXPECT_TRUE(started.isStarted());
    EXPECT_EQ(event->descriptors.size(), 1u);
    return started.getStarted();
  }

  static ipc::UniqueFd Watch(const LaunchedReaper& reaper, pid_t pid) {
    capnp::MallocMessageBuilder request;
    request.initRoot<schema::ReaperRequest>().setWatch(pid);
    EXPECT_TRUE(ipc::SendMessage(reaper.control.get(), request, {}, Soon()));
    auto event = Event(reaper);
    if (!event) return {};
    const auto answer = *event->root<schema::ReaperEvent>();
    if (!answer.isWatched()) return {};
    EXPECT_EQ(answer.getWatched(), pid);
    return std::move(event->descriptors.at(0));
  }

  struct Exit {
    pid_t pid;
    int status;
  };
  static Exit HearExited(const LaunchedReaper& reaper) {
    auto event = Event(reaper);
    if (!event) return {};
    const auto answer = *event->root<schema::ReaperEvent>();
    EXPECT_TRUE(answer.isExited());
    if (!answer.isExited()) return {};
    return {answer.getExited().getPid(), answer.getExited().getWaitStatus()};
  }

  // Starts a backend, lets its zygote attack the targets and stores what it
  // found.
  Result<LaunchedReaper> StartAndAttack(const Application& application,
                                        const Listeners& listeners,
                                        Facts* facts) {
    auto reaper = Start(application);
    if (!reaper) return reaper;
    HearStarted(*reaper);
    Say(*reaper, std::to_string(application.pid()) + " " +
                     std::to_string(listeners.port) + " " +
                     listeners.socket_path);
    *facts = HearUntil(*reaper, "born.done");
    facts->merge(HearUntil(*reaper, "zygote.done"));
    return reaper;
  }

  // Runs the body of a test as the user of the parameter, with a backend that
  // serves an application and whose zygote has attacked the listeners. `body`
  // receives what the zygote found.
  void AttackAsUser(
      const std::function<void(LaunchedReaper& reaper, Facts& facts)>& body) {
    AsUser([&] {
      const Application application;
      const Listeners listeners(directory_);
      Facts facts;
      auto reaper = StartAndAttack(application, listeners, &facts);
      ASSERT_TRUE(reaper) << reaper.error();
      body(*reaper, facts);
    });
  }

  static pid_t Clone(const LaunchedReaper& reaper, const std::string& deed,
                     Facts* facts) {
    Say(reaper, deed);
    // The zygote and the worker write to the same socket, in any order.
    bool done = false;
    pid_t pid = 0;
    while (!done || pid == 0) {
      const std::string packet = Hear(reaper);
      const size_t equals = packet.find('=');
      const std::string name = packet.substr(0, equals);
      if (name == "cloned") pid = std::stoi(packet.substr(equals + 1));
      if (name == "worker.done") done = true;
      if (packet == "silence" || packet == "closed") break;
      if (facts != nullptr && equals != std::string::npos) {
        (*facts)[name] = packet.substr(equals + 1);
      }
    }
    return pid;
  }

  static bool Refused(const Facts& facts, const std::string& what) {
    const auto fact = facts.find(what);
    return fact != facts.end() && fact->second != "0";
  }

  bool Full() const { return GetParam().tier == Tier::kFull; }

  std::string directory_;
  Plugin plugin_;
  ipc::UniqueFd reaper_executable_;
  ipc::UniqueFd worker_executable_;
};

TEST_P(LauncherTest, ZygoteIsBornWithNothingButWhatItWasGiven) {
  AttackAsUser([&](LaunchedReaper&, Facts& facts) {
    EXPECT_EQ(facts["born.descriptors"], "0 1 2 3 4 5 ");
    EXPECT_EQ(facts["born.environment"], "TZ=UTC0 BULKHEAD_INSIDE_BACKEND=1 ");
    EXPECT_EQ(facts["born.capabilities"], "none");
    EXPECT_EQ(facts["born.no_new_privs"], "1");
    EXPECT_EQ(facts["born.address_space"],
              std::to_string(Limits().address_space_bytes));
    if (Full() || GetParam().root) {
      EXPECT_EQ(facts["born.bounding_set"], "0");
    }
    if (GetParam().root) {
      EXPECT_EQ(facts["born.groups"], "0");
    }
    EXPECT_EQ(facts["born.read_plugin"], "0");
    EXPECT_TRUE(Refused(facts, "born.write_plugin"));
    if (!Full()) return;
    EXPECT_EQ(facts["born.pid"], "2");
    EXPECT_EQ(facts["born.uid"], "1000");
    EXPECT_EQ(facts["born.host"], "bulkhead");
    for (const char* what : {"read_passwd", "read_proc", "create", "tcp",
                             "unix", "kill", "shell"}) {
      EXPECT_TRUE(Refused(facts, std::string("born.") + what)) << what;
    }
    std::istringstream entries(facts["born.root"]);
    for (std::string name; entries >> name;) {
      EXPECT_TRUE(name == "lib" || name == "lib64" || name == "usr" ||
                  name == "etc" || name == "tmp")
          << name;
    }
  });
}

TEST_P(LauncherTest, TheOwnersFileIsNotReadInPlaceOfACopy) {
  const ipc::UniqueFd copy(
      memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(copy.get(), "verified", 8), 8);
  ASSERT_EQ(fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  plugin_.files[0].contents = copy.get();
  AttackAsUser([&](LaunchedReaper& reaper, Facts& facts) {
    const std::string loaded = Full() ? "verified" : "plugin";
    for (const char* stage : {"born", "zygote"}) {
      EXPECT_EQ(facts[std::string(stage) + ".plugin"], loaded) << stage;
      EXPECT_EQ(facts[std::string(stage) + ".object"], loaded) << stage;
    }
    EXPECT_TRUE(Refused(facts, "born.write_plugin"));
    if (!Full()) return;
    // Nor does it help the owner that others see the same root.
    const std::string outside =
        "/proc/" + std::to_string(reaper.pid) + "/root" + plugin_.object_path;
    EXPECT_FALSE(ipc::UniqueFd(open(outside.c_str(), O_WRONLY | O_CLOEXEC)));
  });
}

TEST_P(LauncherTest, ProbeReportsWhatLaunchingGives) {
  AsUser([&] {
    const Application application;
    const bool starts = Start(application).has_value();
    const SandboxReport report = ProbeSandbox(Soon());
    EXPECT_EQ(starts, report.tier >= GetParam().tier);
    EXPECT_EQ(report.own_uid, GetParam().root);
  });
}

TEST_P(LauncherTest, DirectoriesOnlyRootMayEnterAreNoObstacleForRoot) {
  if (!GetParam().root) GTEST_SKIP() << "concerns a privileged bulkheadd";
  chmod(directory_.c_str(), 0700);
  const Application application;
  const Listeners listeners(directory_);
  Facts facts;
  auto reaper = StartAndAttack(application, listeners, &facts);
  ASSERT_TRUE(reaper) << reaper.error();
  // Without a root of its own, only the descriptor leads to the object.
  EXPECT_EQ(Refused(facts, "zygote.read_plugin"), !Full());
  EXPECT_EQ(Refused(facts, "zygote.read_object"), Full());
  reaper->control.reset();

  chmod(plugin_.object_path.c_str(), 0600);
  reaper = Start(application);
  ASSERT_FALSE(reaper);
  EXPECT_EQ(reaper.error().code(), Code::kBackendUnavailable);
}

TEST_P(LauncherTest, OutsideIdIsItsOwnOnlyUnderRoot) {
  AsUser([&] {
    const Application application;
    auto reaper = Start(application);
    ASSERT_TRUE(reaper) << reaper.error();
    HearStarted(*reaper);
    std::ifstream status("/proc/" + std::to_string(reaper->pid) + "/status");
    std::string uid;
    for (std::string word; status >> word;) {
      if (word == "Uid:") {
        status >> uid;
        break;
      }
    }
    const uid_t expected = GetParam().root ? OutsideId(getpid(), 1) : geteuid();
    EXPECT_EQ(uid, std::to_string(expected));
  });
}

TEST_P(LauncherTest, Stage1RefusesWhatAPluginDoesNotNeed) {
  AttackAsUser([&](LaunchedReaper&, Facts& facts) {
    EXPECT_EQ(facts["zygote.read_plugin"], "0");
    EXPECT_EQ(facts["zygote.execute"], "0");
    for (const char* what :
         {"read_passwd", "read_proc", "write_plugin", "create", "socket",
          "kill", "tgkill", "fork", "write_and_execute", "memfd",
          "survive_parent", "dumpable"}) {
      EXPECT_TRUE(Refused(facts, std::string("zygote.") + what)) << what;
    }
  });
}

TEST_P(LauncherTest, Stage2RefusesAllButComputing) {
  AttackAsUser([&](LaunchedReaper& reaper, Facts& facts) {
    const pid_t pid = Clone(reaper, "clone", &facts);
    EXPECT_EQ(facts["worker.thread"], "0");
    for (const char* what :
         {"read_passwd", "read_proc", "read_plugin", "write_plugin", "create",
          "socket", "kill", "tgkill", "tgkill_zygote", "fork",
          "write_and_execute", "execute", "memfd", "survive_parent",
          "dumpable"}) {
      EXPECT_TRUE(Refused(facts, std::string("worker.") + what)) << what;
    }

    const ipc::UniqueFd worker = Watch(reaper, pid);
    ASSERT_TRUE(worker);
    capnp::MallocMessageBuilder request;
    request.initRoot<schema::ReaperRequest>().setKill(pid);
    ASSERT_TRUE(ipc::SendMessage(reaper.control.get(), request, {}, Soon()));
    const Exit exit = HearExited(reaper);
    EXPECT_EQ(exit.pid, pid);
    EXPECT_TRUE(WIFSIGNALED(exit.status));
    EXPECT_EQ(WTERMSIG(exit.status), SIGKILL);
    EXPECT_TRUE(BecomesReadable(worker.get()));
  });
}

TEST_P(LauncherTest, ViolationsAndExitsAreReportedAsTheyWere) {
  AttackAsUser([&](LaunchedReaper& reaper, Facts&) {
    for (const char* deed : {"execute", "connect", "exit"}) {
      // The worker may end before it is watched, and its end is still reported.
      const pid_t pid = Clone(reaper, deed, nullptr);
      ASSERT_TRUE(Watch(reaper, pid)) << deed;
      const Exit exit = HearExited(reaper);
      EXPECT_EQ(exit.pid, pid);
      if (std::string(deed) == "exit") {
        EXPECT_TRUE(WIFEXITED(exit.status));
        EXPECT_EQ(WEXITSTATUS(exit.status), 7);
      } else {
        EXPECT_TRUE(WIFSIGNALED(exit.status)) << deed;
        EXPECT_EQ(WTERMSIG(exit.status), SIGSYS) << deed;
      }
    }
  });
}

TEST_P(LauncherTest, SessionsOutliveTheirZygote) {
  AttackAsUser([&](LaunchedReaper& reaper, Facts&) {
    const pid_t pid = Clone(reaper, "spin", nullptr);
    const ipc::UniqueFd worker = Watch(reaper, pid);
    ASSERT_TRUE(worker);
    EXPECT_FALSE(Watch(reaper, pid)) << "watched twice";
    EXPECT_FALSE(Watch(reaper, 1)) << "the reaper itself";
    Say(reaper, "crash");
    const Exit exit = HearExited(reaper);
    EXPECT_NE(exit.pid, pid);
    EXPECT_TRUE(WIFSIGNALED(exit.status));
    EXPECT_EQ(WTERMSIG(exit.status), SIGABRT);
    pollfd alive = {.fd = worker.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&alive, 1, 0), 0);

    reaper.control.reset();
    EXPECT_TRUE(BecomesReadable(reaper.pidfd.get()));
    EXPECT_TRUE(BecomesReadable(worker.get()));
  });
}

TEST_P(LauncherTest, LogArrives) {
  AsUser([&] {
    const Application application;
    auto reaper = Start(application);
    ASSERT_TRUE(reaper) << reaper.error();
    ASSERT_TRUE(BecomesReadable(reaper->log.get()));
    char line[64];
    const ssize_t bytes = read(reaper->log.get(), line, sizeof(line));
    ASSERT_GT(bytes, 0);
    EXPECT_EQ(std::string(line, static_cast<size_t>(bytes)),
              "a line for the log\n");
  });
}

TEST_P(LauncherTest, EndOfTheApplicationEndsEverything) {
  AsUser([&] {
    Application application;
    const Listeners listeners(directory_);
    Facts facts;
    auto reaper = StartAndAttack(application, listeners, &facts);
    ASSERT_TRUE(reaper) << reaper.error();
    const pid_t pid = Clone(*reaper, "spin", nullptr);
    const ipc::UniqueFd worker = Watch(*reaper, pid);
    application.Kill();
    EXPECT_TRUE(BecomesReadable(reaper->pidfd.get()));
    EXPECT_TRUE(BecomesReadable(worker.get()));
  });
}

TEST_P(LauncherTest, EndOfTheReaperEndsEverything) {
  AttackAsUser([&](LaunchedReaper& reaper, Facts&) {
    const pid_t pid = Clone(reaper, "spin", nullptr);
    const ipc::UniqueFd worker = Watch(reaper, pid);
    ASSERT_TRUE(worker);
    // A reaper that ends by itself would end the others before.
    ASSERT_EQ(kill(reaper.pid, SIGKILL), 0);
    EXPECT_TRUE(BecomesReadable(worker.get()));
    // Closed by the last of all that hold it: the zygote or the worker.
    EXPECT_EQ(Hear(reaper), "closed");
    syscall(SYS_pidfd_send_signal, worker.get(), SIGKILL, nullptr, 0);
  });
}

// Starts a backend from a child process, which takes bulkheadd's place and can
// be stopped or killed. The test then sees the reaper only by its pid.
class LauncherLifelineTest : public LauncherTest {
 protected:
  struct Pids {
    pid_t reaper;
    pid_t zygote;  // in the reaper's namespace
  };

  ipc::ForkedChild StartElsewhere(const Application& application, Pids* pids) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const ipc::UniqueFd read_end(ends[0]);
    ipc::UniqueFd write_end(ends[1]);
    ipc::ForkedChild supervisor([&] {
      auto reaper = Start(application);
      if (!reaper) return 1;
      const Pids started = {reaper->pid, HearStarted(*reaper)};
      if (write(write_end.get(), &started, sizeof(started)) < 0) return 1;
      while (true) pause();
    });
    write_end.reset();
    EXPECT_TRUE(BecomesReadable(read_end.get()));
    EXPECT_EQ(read(read_end.get(), pids, sizeof(*pids)),
              static_cast<ssize_t>(sizeof(*pids)));
    return supervisor;
  }

  // In the full tier, the reaper is pid 1 of its namespace: its end is the end
  // of all.
  std::vector<ipc::UniqueFd> Lives(const Pids& pids) const {
    std::vector<ipc::UniqueFd> lives;
    lives.push_back(Pidfd(pids.reaper));
    if (!Full()) lives.push_back(Pidfd(pids.zygote));
    return lives;
  }
};

TEST_P(LauncherLifelineTest, StoppedSupervisorDoesNotKeepABackendAlive) {
  AsUser([&] {
    Application application;
    Pids pids = {};
    ipc::ForkedChild supervisor = StartElsewhere(application, &pids);
    const auto lives = Lives(pids);
    supervisor.Signal(SIGSTOP);
    supervisor.AwaitStop();
    application.Kill();
    for (const auto& life : lives) EXPECT_TRUE(BecomesReadable(life.get()));
  });
}

TEST_P(LauncherLifelineTest, KilledSupervisorEndsTheBackend) {
  AsUser([&] {
    const Application application;
    Pids pids = {};
    ipc::ForkedChild supervisor = StartElsewhere(application, &pids);
    const auto lives = Lives(pids);
    supervisor.Kill();
    for (const auto& life : lives) EXPECT_TRUE(BecomesReadable(life.get()));
  });
}

// In the full tier, where the kernel ends the reaper itself.
class StoppedReaperTest : public LauncherLifelineTest {};

TEST_P(StoppedReaperTest, KilledSupervisorEndsTheBackend) {
  AsUser([&] {
    const Application application;
    Pids pids = {};
    ipc::ForkedChild supervisor = StartElsewhere(application, &pids);
    const ipc::UniqueFd reaper = Pidfd(pids.reaper);
    const auto send = [&](int signal) {
      return syscall(SYS_pidfd_send_signal, reaper.get(), signal, nullptr, 0);
    };
    ASSERT_EQ(send(SIGSTOP), 0);
    supervisor.Kill();
    EXPECT_TRUE(BecomesReadable(reaper.get()));
    send(SIGKILL);
  });
}

std::string SettingName(const testing::TestParamInfo<Setting>& info) {
  return std::string(info.param.tier == Tier::kFull ? "Full" : "Reduced") +
         (info.param.root ? "AsRoot" : "AsUser");
}

const auto kSettings = testing::Values(
    Setting{Tier::kFull, true}, Setting{Tier::kFull, false},
    Setting{Tier::kReduced, true}, Setting{Tier::kReduced, false});

bool GiveUpTheRightToKill() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held = {};
  if (syscall(SYS_capget, &header, held.data()) != 0) return false;
  held[0].effective &= ~(uint32_t{1} << CAP_KILL);
  held[0].permitted &= ~(uint32_t{1} << CAP_KILL);
  return syscall(SYS_capset, &header, held.data()) == 0;
}

TEST(ProbeSandboxTest, AUidThatCannotBeKilledIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives backends a uid";
  ipc::ForkedChild child([] {
    if (!tests::RefuseNamespaces() || !GiveUpTheRightToKill()) return 1;
    const SandboxReport report = ProbeSandbox(Soon());
    if (report.tier != Tier::kReduced) return 2;
    if (report.own_uid) return 3;
    for (const SandboxGap& gap : report.gaps) {
      if (gap.evidence.find("cannot kill") != std::string::npos) return 0;
    }
    return 4;
  });
  EXPECT_EQ(child.Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Tiers, LauncherTest, kSettings, SettingName);
INSTANTIATE_TEST_SUITE_P(Tiers, LauncherLifelineTest, kSettings, SettingName);
INSTANTIATE_TEST_SUITE_P(Tiers, StoppedReaperTest,
                         testing::Values(Setting{Tier::kFull, true},
                                         Setting{Tier::kFull, false}),
                         SettingName);

TEST(OutsideIdTest, DiffersBetweenBackendsAndSupervisors) {
  EXPECT_NE(OutsideId(100, 0), OutsideId(100, 1));
  EXPECT_NE(OutsideId(100, 31), OutsideId(101, 0));
  EXPECT_GE(OutsideId(1, 0), 0x70000000u);
  EXPECT_LT(OutsideId(4194304, 31), 0x78000000u);
}

}  // namespace
}  // namespace bulkhead::sandbox
