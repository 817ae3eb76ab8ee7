// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of bulkhead-worker: a zygote with vendor code that tries to
// leave the sandbox. At each stage, it tries what it should not be able to do
// and sends packets of text over its control socket: "STAGE.WHAT=ERRNO", with 0
// for success, and then "STAGE.done". The first packet that it receives names
// the targets: "PID PORT SOCKET". Each later packet is a command:
//
//   clone     clones a session worker, which tries everything again under stage
//   2
//             and sends "worker.done"; the zygote answers "cloned=PID"
//   execute, connect, exit, spin   clones a session worker that then does this
//   crash     aborts the zygote

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <thread>

#include "backends/worker/lockdown/lockdown.h"
#include "ipc/descriptors.h"

namespace bulkhead::worker {
namespace {

struct Targets {
  pid_t application = 0;
  uint16_t port = 0;
  std::string socket;
};

void Tell(const std::string& text) {
  send(ipc::kZygoteControlFd, text.data(), text.size(), MSG_NOSIGNAL);
}

std::string Hear() {
  std::array<char, 256> packet;
  const ssize_t bytes =
      read(ipc::kZygoteControlFd, packet.data(), packet.size());
  if (bytes <= 0) _exit(0);
  return std::string(packet.data(), static_cast<size_t>(bytes));
}

std::string Beginning(int file) {
  std::array<char, 16> text;
  const ssize_t bytes = pread(file, text.data(), text.size(), 0);
  return std::string(text.data(), static_cast<size_t>(bytes < 0 ? 0 : bytes));
}

class Attempts {
 public:
  Attempts(std::string stage, const Targets& targets)
      : stage_(std::move(stage)), targets_(targets) {}

  void Report(const std::string& what, const std::string& value) {
    Tell(stage_ + "." + what + "=" + value);
  }

  void Try(const std::string& what, long result) {
    const int error = errno;
    Report(what, std::to_string(result < 0 ? error : 0));
  }

  void TryFiles(const std::string& plugin) {
    Try("read_passwd", open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    Try("read_proc", open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    const int file = open(plugin.c_str(), O_RDONLY | O_CLOEXEC);
    Try("read_plugin", file);
    Report("plugin", Beginning(file));
    Report("object", Beginning(ipc::kZygotePluginFd));
    Try("write_plugin", open(plugin.c_str(), O_WRONLY | O_CLOEXEC));
    Try("create", open("/created", O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  }

  void TrySockets() {
    sockaddr_in tcp = {};
    tcp.sin_family = AF_INET;
    tcp.sin_port = htons(targets_.port);
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Try("tcp", stream < 0 ? stream
                          : connect(stream, reinterpret_cast<sockaddr*>(&tcp),
                                    sizeof(tcp)));
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    targets_.socket.copy(local.sun_path, sizeof(local.sun_path) - 1);
    const int unix_stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Try("unix", unix_stream < 0
                    ? unix_stream
                    : connect(unix_stream, reinterpret_cast<sockaddr*>(&local),
                              sizeof(local)));
  }

  void TryProcesses() {
    Try("kill", kill(targets_.application, 0));
    Try("tgkill", syscall(SYS_tgkill, targets_.application,
                          targets_.application, SIGABRT));
    const pid_t child = fork();
    if (child == 0) _exit(0);
    Try("fork", child);
  }

  void TryCode() {
    Try("write_and_execute",
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            ? -1
            : 0);
    Try("execute", mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                       ? -1
                       : 0);
    Try("memfd", memfd_create("code", MFD_CLOEXEC));
    Try("survive_parent", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
    Try("dumpable", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
  }

  void Done() { Tell(stage_ + ".done"); }

 private:
  std::string stage_;
  const Targets& targets_;
};

std::string OpenDescriptors() {
  std::string open;
  for (int fd = 0; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) open += std::to_string(fd) + " ";
  }
  return open;
}

std::string RootEntries() {
  std::string names;
  DIR* root = opendir("/");
  while (const dirent* entry = readdir(root)) {
    if (entry->d_name[0] != '.') names += std::string(entry->d_name) + " ";
  }
  closedir(root);
  return names;
}

std::string Environment() {
  std::string all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    all += std::string(*variable) + " ";
  }
  return all;
}

int CapabilitiesInBoundingSet() {
  int count = 0;
  for (int capability = 0;; ++capability) {
    const int held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    // The kernel knows no further one.
    if (held < 0) return count;
    count += held;
  }
}

bool HasCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held = {};
  syscall(SYS_capget, &header, held.data());
  return (held[0].permitted | held[1].permitted | held[0].effective |
          held[0].inheritable) != 0;
}

std::string MostAddressSpace() {
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
  return std::to_string(limit.rlim_max);
}

void DescribeBirth(const Targets& targets, const std::string& plugin) {
  Attempts born("born", targets);
  born.Report("pid", std::to_string(getpid()));
  born.Report("uid", std::to_string(getuid()));
  std::array<char, 65> host = {};
  gethostname(host.data(), host.size() - 1);
  born.Report("host", host.data());
  born.Report("descriptors", OpenDescriptors());
  born.Report("environment", Environment());
  born.Report("root", RootEntries());
  born.Report("capabilities", HasCapabilities() ? "some" : "none");
  born.Report("groups", std::to_string(getgroups(0, nullptr)));
  born.Report("bounding_set", std::to_string(CapabilitiesInBoundingSet()));
  born.Report("address_space", MostAddressSpace());
  born.Report("no_new_privs",
              std::to_string(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)));
  born.TryFiles(plugin);
  born.TrySockets();
  born.Try("kill", kill(targets.application, 0));
  // Only in a new root: without namespaces there is a shell before stage 1, and
  // exec would replace this program.
  if (getpid() == 2) born.Try("shell", execl("/bin/sh", "sh", nullptr));
  born.Done();
}

[[noreturn]] void RunWorker(const lockdown::Lockdown& lockdown,
                            const Targets& targets, const std::string& deed) {
  if (!lockdown.InstallStage2()) _exit(2);
  Attempts worker("worker", targets);
  if (deed == "clone") {
    worker.TryFiles(lockdown.plugin_path());
    worker.Try("socket", socket(AF_INET, SOCK_STREAM, 0));
    worker.TryProcesses();
    worker.Try("tgkill_zygote", syscall(SYS_tgkill, 2, 2, SIGABRT));
    worker.TryCode();
    bool ran = false;
    std::thread([&ran] { ran = true; }).join();
    worker.Report("thread", ran ? "0" : "1");
  }
  worker.Done();
  if (deed == "execute") execl("/bin/sh", "sh", nullptr);
  if (deed == "connect") connect(0, nullptr, 0);
  if (deed == "exit") _exit(7);
  while (true) poll(nullptr, 0, -1);
}

[[noreturn]] void RunZygote() {
  dprintf(STDERR_FILENO, "a line for the log\n");
  const auto lockdown = lockdown::Lockdown::Read(ipc::kZygoteLockdownFd);
  if (!lockdown) _exit(2);
  Targets targets;
  std::istringstream(Hear()) >> targets.application >> targets.port >>
      targets.socket;

  DescribeBirth(targets, lockdown->plugin_path());
  if (const auto installed =
          lockdown->InstallStage1(ipc::kZygoteControlFd, ipc::kZygotePluginFd);
      !installed) {
    Tell("failed=" + installed.error().message);
    _exit(3);
  }
  Attempts zygote("zygote", targets);
  zygote.TryFiles(lockdown->plugin_path());
  const std::string object =
      "/proc/self/fd/" + std::to_string(ipc::kZygotePluginFd);
  zygote.Try("read_object", open(object.c_str(), O_RDONLY | O_CLOEXEC));
  zygote.Try("socket", socket(AF_INET, SOCK_STREAM, 0));
  zygote.TryProcesses();
  zygote.TryCode();
  zygote.Done();

  while (true) {
    const std::string deed = Hear();
    if (deed == "crash") abort();
    const long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr,
                             nullptr, nullptr, 0);
    if (pid == 0) RunWorker(*lockdown, targets, deed);
    Tell("cloned=" + std::to_string(pid));
  }
}

}  // namespace
}  // namespace bulkhead::worker

int main() { bulkhead::worker::RunZygote(); }
