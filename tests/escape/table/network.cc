// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr int kFamilies = 47;
constexpr int kDescriptors = 256;

// Returns the common answer for all families and types, or the first that
// differs.
std::string Sockets(const Targets&) {
  for (int family = 0; family < kFamilies; ++family) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      const std::string answer = Answer(socket(family, type, 0));
      if (answer != "EPERM") {
        return "family " + std::to_string(family) + " " + answer;
      }
    }
  }
  return "EPERM";
}

std::string SocketPair(const Targets&) {
  int ends[2];
  return Answer(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Connecting needs a socket of the family first. Another attempt covers
// connect() itself.
std::string ConnectTcp(const Targets& t) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return Answer(fd);
  const sockaddr_in address = Loopback(t.tcp_port);
  return Answer(
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

std::string ConnectUnix(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return Answer(fd);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  return Answer(connect(
      fd, reinterpret_cast<sockaddr*>(&address),
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())));
}

std::string SendTo(const Targets&) {
  const sockaddr_in dns = Loopback(53);
  return Answer(sendto(-1, "?", 1, 0, reinterpret_cast<const sockaddr*>(&dns),
                       sizeof dns));
}

std::string Descriptors(const Targets& t) {
  std::string found;
  int count = 0;
  for (int fd = 0; fd < kDescriptors; ++fd) {
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) != 0) continue;
    ++count;
    const unsigned kind = status.st_mode & S_IFMT;
    const bool declared = kind == 0 || S_ISFIFO(kind) || S_ISSOCK(kind) ||
                          S_ISREG(kind) || status.st_rdev == makedev(1, 3);
    found += std::to_string(fd) + (declared ? " " : "!") +
             std::to_string(kind >> 12) + " ";
  }
  // 0, 1 and the log; in the zygote those that ipc/descriptors.h names; in a
  // session the worker's socket and the media. Memory needs none once mapped.
  const int given = t.in_zygote ? 6 : 5;
  return Check(count == given && found.find('!') == std::string::npos, found);
}

// A pipe that nobody else has, not the host's /dev/null.
std::string OwnStdout(const Targets&) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    struct stat file;
    if (syscall(SYS_fstat, fd, &file) != 0) return Answer(-1);
    if (!S_ISFIFO(file.st_mode)) return "a file of others";
  }
  return "ok";
}

std::string TypeIntoTerminals(unsigned long request) {
  for (const int fd : {0, 1, 2}) {
    const std::string answer = Answer(ioctl(fd, request, "x"));
    if (answer != "ENOTTY") return answer;
  }
  return "ENOTTY";
}

std::string HostName(const Targets&) {
  utsname names;
  if (uname(&names) != 0) return Answer(-1);
  return Check(strcmp(names.nodename, "bulkhead") == 0, "allowed");
}

std::string Directory(const Targets&) {
  char path[512];
  if (syscall(SYS_getcwd, path, sizeof path) < 0) return Answer(-1);
  return Check(strcmp(path, "/") == 0, path);
}

std::string Program(const Targets&) {
  const auto* path = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return Check(strncmp(path, "/dev/fd/", 8) == 0, path);
}

std::string OpenOf(int pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  return Answer(open(path.c_str(), O_RDONLY));
}

}  // namespace

std::vector<Attempt> NetworkAttempts() {
  constexpr Expected kEperm = Everywhere("E:EPERM");
  constexpr Expected kNotThere = {"E:ENOENT", "E:EACCES", "E:EACCES"};
  return {
      {40, "socket_of_every_family", kEperm, Sockets},
      {40, "socketpair", kEperm, SocketPair},
      Call(40, "accept4", SYS_accept4),
      Call(40, "setsockopt", SYS_setsockopt),
      {41, "connect_tcp", kEperm, ConnectTcp},
      Call(41, "connect", SYS_connect),
      Call(41, "bind", SYS_bind),
      Call(41, "listen", SYS_listen),
      {41, "sendto_address", kEperm, SendTo},
      Call(41, "sendmmsg", SYS_sendmmsg),
      {41, "ping_socket", kEperm,
       [](const Targets&) {
         return Answer(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
       }},
      {42, "connect_abstract", kEperm,
       [](const Targets& t) {
         return ConnectUnix(std::string(1, '\0') + t.abstract_name);
       }},
      {43, "connect_pathname", kEperm,
       [](const Targets& t) { return ConnectUnix(t.unix_path); }},

      Call(44, "shmget", SYS_shmget),
      Call(44, "shmat", SYS_shmat),
      Call(44, "shmctl", SYS_shmctl),
      Call(44, "semget", SYS_semget),
      Call(44, "semop", SYS_semop),
      Call(44, "semctl", SYS_semctl),
      Call(44, "msgget", SYS_msgget),
      Call(44, "msgsnd", SYS_msgsnd),
      Call(44, "msgrcv", SYS_msgrcv),
      Call(44, "msgctl", SYS_msgctl),
      Call(44, "mq_open", SYS_mq_open),
      Call(44, "mq_unlink", SYS_mq_unlink),

      {45, "descriptors", Everywhere("ok"), Descriptors},
      // Would end what other processes write to the same log.
      Call(45, "shutdown", SYS_shutdown),
      // Would read what the other processes of the backend write.
      {45,
       "open_log_again",
       {"E:ENOENT|EACCES|ENXIO", "E:EACCES"},
       [](const Targets&) {
         return Answer(open("/proc/self/fd/2", O_RDONLY));
       }},
      // Would reach all who wait on the same page of a file. Wakes of one are
      // how a worker wakes its host.
      {47, "futex_wake_of_all_without_private", Everywhere("E:EINVAL"),
       [](const Targets&) {
         return Answer(
             syscall(SYS_futex, nullptr, FUTEX_WAKE, INT_MAX, 0, 0, 0));
       }},
      {47, "futex_requeue_without_private", Everywhere("E:EINVAL"),
       [](const Targets&) {
         return Answer(syscall(SYS_futex, nullptr, FUTEX_REQUEUE, 1, 0, 0, 0));
       }},
      {45, "type_into_terminal", Everywhere("E:ENOTTY"),
       [](const Targets&) { return TypeIntoTerminals(TIOCSTI); }},
      {45, "paste_into_terminal", Everywhere("E:ENOTTY"),
       [](const Targets&) { return TypeIntoTerminals(TIOCLINUX); }},
      {45, "take_terminal", Everywhere("E:ENOTTY"),
       [](const Targets&) { return TypeIntoTerminals(TIOCSCTTY); }},

      {46,
       "host_name",
       {"ok", "E:EPERM",
        "allowed: without namespaces the host's name is seen (README)"},
       HostName},
      {71,
       "name_of_thread",
       {"allowed: no media yet", "E:EPERM"},
       [](const Targets&) {
         return Answer(prctl(PR_SET_NAME, "a secret", 0, 0, 0));
       }},
      {73,
       "write_to_stdout",
       {"allowed: /dev/null, no media yet", "E:EBADF"},
       [](const Targets&) { return Answer(write(STDOUT_FILENO, "x", 1)); }},
      {73, "stdout_is_its_own", {"n/a: it has no media", "ok"}, OwnStdout},
      {46, "working_directory", {"ok", "E:EACCES"}, Directory},
      {46, "program_name", Everywhere("ok"), Program},
      {46, "host_command_line", kNotThere,
       [](const Targets& t) { return OpenOf(t.application_pid, "cmdline"); }},
      {46,
       "memory_of_machine",
       {"allowed: constructors of libraries ask", "E:EPERM"},
       [](const Targets&) {
         char info[256];
         return Answer(syscall(SYS_sysinfo, info));
       }},

      {47, "kill_sibling", kEperm,
       [](const Targets& t) { return Answer(kill(t.sibling_pid, SIGKILL)); }},
      {47,
       "abort_sibling",
       {"E:ESRCH", "E:EPERM", "E:EPERM"},
       [](const Targets& t) {
         return Answer(
             syscall(SYS_tgkill, t.sibling_pid, t.sibling_pid, SIGABRT));
       }},
      {47, "sibling_mem", kNotThere,
       [](const Targets& t) { return OpenOf(t.sibling_pid, "mem"); }},
      {47, "sibling_maps", kNotThere,
       [](const Targets& t) { return OpenOf(t.sibling_pid, "maps"); }},
      {47, "seize_sibling", kKilled,
       [](const Targets& t) {
         return Answer(ptrace(PTRACE_SEIZE, t.sibling_pid, 0, 0));
       }},
      {47, "read_sibling", kKilled,
       [](const Targets& t) {
         char byte;
         iovec here = {&byte, 1};
         iovec there = {reinterpret_cast<void*>(0x400000), 1};
         return Answer(syscall(SYS_process_vm_readv, t.sibling_pid, &here, 1,
                               &there, 1, 0));
       }},
      {47, "pidfd_of_sibling", kKilled,
       [](const Targets& t) {
         return Answer(syscall(SYS_pidfd_open, t.sibling_pid, 0));
       }},
      {47, "sibling_shared_memory", kNotThere,
       [](const Targets& t) { return OpenOf(t.sibling_pid, "map_files"); }},
      {47, "sibling_cgroup", kNotThere,
       [](const Targets& t) { return OpenOf(t.sibling_pid, "cgroup"); }},
      {47, "sibling_limits", kEperm,
       [](const Targets& t) {
         const rlimit64 none = {};
         return Answer(syscall(SYS_prlimit64, t.sibling_pid, RLIMIT_NOFILE,
                               &none, nullptr));
       }},
      {47, "sibling_descriptor", kNotThere,
       [](const Targets& t) { return OpenOf(t.sibling_pid, "fd/3"); }},

      {48, "write_cgroup", Everywhere("E:EACCES"),
       [](const Targets&) {
         return Answer(open("/sys/fs/cgroup/cgroup.procs", O_WRONLY));
       }},
      {48, "make_cgroup", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_mkdir, "/sys/fs/cgroup/mine", 0777));
       }},
      {48, "mount_cgroup", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_mount, "none", "/", "cgroup2", 0, nullptr));
       }},
  };
}

}  // namespace bulkhead::tests
