// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/attempts.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tests/escape/violations.h"

namespace bulkhead::tests {
namespace {

// More descriptors than a worker has.
constexpr int kDescriptors = 64;

Outcome Escaped() { return {true, 0}; }
Outcome Refused() { return {false, errno}; }
Outcome EscapedIf(bool escaped) { return escaped ? Escaped() : Refused(); }

Outcome ReadFile(const char* path) {
  char byte;
  const int fd = open(path, O_RDONLY);
  return EscapedIf(fd >= 0 && read(fd, &byte, 1) == 1);
}

Outcome ReadMemory(int pid, unsigned long address) {
  char bytes[8];
  iovec local = {bytes, sizeof bytes};
  iovec remote = {reinterpret_cast<void*>(address), sizeof bytes};
  const std::string file = "/proc/" + std::to_string(pid) + "/mem";
  const int fd = open(file.c_str(), O_RDONLY);
  if (fd >= 0) return Escaped();
  const bool read = process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0;
  // The kernel checks permissions before the address, so EFAULT is an escape.
  return EscapedIf(read || errno == EFAULT);
}

Outcome ConnectTcp(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  return EscapedIf(fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address),
                                      sizeof address) == 0);
}

Outcome ConnectUnix(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return EscapedIf(fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address),
                                      bytes) == 0);
}

// If exec succeeds, the process becomes a program that exits with code 0.
Outcome Exec() {
  char loader[] = "/lib64/ld-linux-x86-64.so.2";
  char version[] = "--version";
  char* arguments[] = {loader, version, nullptr};
  char* environment[] = {nullptr};
  execve("/bin/true", arguments, environment);
  execve(loader, arguments, environment);
  return Refused();
}

Outcome Fork() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  if (pid > 0) return Escaped();
  return EscapedIf(syscall(SYS_clone, SIGCHLD | CLONE_PARENT, 0, 0, 0, 0) >= 0);
}

Outcome SignalApplication(int pid) {
  return EscapedIf(kill(pid, SIGUSR1) == 0 ||
                   syscall(SYS_tgkill, pid, pid, SIGUSR1) == 0);
}

// Tries to write to the media, recognised as the descriptor with `media_bytes`
// bytes.
Outcome WriteInput(long media_bytes) {
  const char byte = 'x';
  bool found = false;
  for (int fd = 0; fd < kDescriptors; ++fd) {
    if (lseek(fd, 0, SEEK_END) != media_bytes) continue;
    found = true;
    if (pwrite(fd, &byte, 1, 0) == 1) return Escaped();
    if (ftruncate(fd, 0) == 0 || fchmod(fd, 0777) == 0) return Escaped();
    const std::string again = "/proc/self/fd/" + std::to_string(fd);
    if (open(again.c_str(), O_RDWR) >= 0) return Escaped();
  }
  // An attempt that did not find the media shows nothing, so it counts as
  // escaped.
  return found ? Refused() : Escaped();
}

// Tries to change file status flags. They belong to the open file description,
// so a change would affect the host.
Outcome ChangeSharedFlags() {
  for (int fd = 0; fd < kDescriptors; ++fd) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0) continue;
    if (fcntl(fd, F_SETFL, flags ^ O_NONBLOCK) == 0) return Escaped();
    if (fcntl(fd, F_SETFL, flags | O_ASYNC) == 0) return Escaped();
  }
  return Refused();
}

Outcome MapExecutable() {
  constexpr size_t kBytes = 4096;
  if (mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    return Escaped();
  }
  void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return EscapedIf(data != MAP_FAILED &&
                   mprotect(data, kBytes, PROT_READ | PROT_EXEC) == 0);
}

Outcome RunMemoryFile() {
  const int fd = static_cast<int>(syscall(SYS_memfd_create, "escape", 0));
  if (fd < 0 || ftruncate(fd, 4096) != 0) return Refused();
  return EscapedIf(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd,
                        0) != MAP_FAILED);
}

Outcome WriteOwnFile(const std::string& path) {
  return EscapedIf(open(path.c_str(), O_WRONLY) >= 0 ||
                   chmod(path.c_str(), 0777) == 0);
}

Outcome MakeFile() {
  for (const char* path : {"/escape", "/tmp/escape", "escape"}) {
    if (open(path, O_WRONLY | O_CREAT, 0666) >= 0) return Escaped();
  }
  return Refused();
}

}  // namespace

std::string Outcome::Describe() const {
  return escaped ? "ESCAPED" : "refused, errno " + std::to_string(error);
}

Outcome Try(const std::string& attempt, const Targets& targets) {
  if (attempt == "control") return Escaped();
  if (attempt == "read_own_file") return ReadFile(targets.own_file.c_str());
  if (attempt == "read_passwd") return ReadFile("/etc/passwd");
  if (attempt == "application_memory") {
    return ReadMemory(targets.application_pid, targets.application_secret);
  }
  if (attempt == "reaper_memory") return ReadMemory(1, 4096);
  if (attempt == "trace_reaper") {
    return EscapedIf(ptrace(PTRACE_SEIZE, 1, nullptr, nullptr) == 0);
  }
  if (attempt == "connect_tcp") return ConnectTcp(targets.tcp_port);
  if (attempt == "connect_unix") return ConnectUnix(targets.unix_path);
  if (attempt == "connect_abstract") {
    return ConnectUnix(std::string(1, '\0') + targets.abstract_name);
  }
  if (attempt == "exec") return Exec();
  if (attempt == "fork") return Fork();
  if (attempt == "signal_application") {
    return SignalApplication(targets.application_pid);
  }
  if (attempt == "write_input") return WriteInput(targets.media_bytes);
  if (attempt == "change_shared_flags") return ChangeSharedFlags();
  if (attempt == "map_executable") return MapExecutable();
  if (attempt == "run_memory_file") return RunMemoryFile();
  if (attempt == "write_own_file") return WriteOwnFile(targets.own_file);
  if (attempt == "make_file") return MakeFile();
  if (attempt == "namespace") return EscapedIf(unshare(CLONE_NEWUSER) == 0);
  if (attempt == "mount") {
    return EscapedIf(mount("none", "/", "tmpfs", 0, nullptr) == 0);
  }
  if (attempt == "io_uring") {
    char parameters[256] = {};
    return EscapedIf(syscall(SYS_io_uring_setup, 1, parameters) >= 0);
  }
  if (attempt == "idle_thread") return EscapedIf(StartIdleThread());
  if (attempt == "speculation") return EscapedIf(Speculates());
  constexpr char kViolate[] = "violate_";
  if (attempt.starts_with(kViolate)) {
    Violate(attempt.substr(sizeof kViolate - 1));
  }
  return Escaped();
}

}  // namespace bulkhead::tests
