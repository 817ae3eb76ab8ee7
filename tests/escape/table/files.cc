// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr int kDescriptors = 64;

std::string Open(const std::string& path, int flags = O_RDONLY) {
  const int fd = open(path.c_str(), flags, 0600);
  if (fd >= 0) close(fd);
  return Answer(fd);
}

std::string OfProcess(int pid, const char* name) {
  return Open("/proc/" + std::to_string(pid) + "/" + name);
}

std::string Stat(const std::string& path) {
  struct stat status;
  return Answer(stat(path.c_str(), &status));
}

// Opens the library that contains std::abort.
std::string OpenLibrary(const Targets&) {
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&std::abort), &library) == 0) {
    return "no such library";
  }
  return Open(library.dli_fname);
}

std::string UpFromOwnFile(const Targets& t) {
  const std::string own = t.own_file.substr(0, t.own_file.rfind('/'));
  const std::string secret = t.secret_file.substr(t.secret_file.rfind('/'));
  return Open(own + "/../.." + secret);
}

// Tries to go up from every descriptor. None is a directory or leads to one.
std::string UpFromDescriptors(const Targets&) {
  for (int fd = 0; fd < kDescriptors; ++fd) {
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) return "a directory: " + std::to_string(fd);
    if (openat(fd, "..", O_RDONLY) >= 0) return "opened ..";
  }
  return "ok";
}

std::string ReopenForWriting(const Targets&) {
  std::string answer = "EACCES";
  for (int fd = 0; fd < kDescriptors; ++fd) {
    const std::string again = "/proc/self/fd/" + std::to_string(fd);
    if (open(again.c_str(), O_RDWR) >= 0) return "allowed";
    if (errno != EACCES) answer = Answer(-1);
  }
  return answer;
}

// Tries to write to every descriptor that can seek, beginning with the media.
std::string WriteInput(const Targets&) {
  for (int fd = 3; fd < kDescriptors; ++fd) {
    if (lseek(fd, 0, SEEK_END) <= 0) continue;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY) continue;
    return Answer(write(fd, "x", 1));
  }
  return "found no media";
}

long OnOwnFile(const Targets& t, long call, long second = 0, long third = 0) {
  return syscall(call, t.own_file.c_str(), second, third);
}

std::string Lock(int command) {
  struct flock whole = {};
  whole.l_type = F_RDLCK;
  return Answer(syscall(SYS_fcntl, 0, command, &whole));
}

}  // namespace

std::vector<Attempt> FileAttempts() {
  constexpr Expected kEacces = Everywhere("E:EACCES");
  constexpr Expected kNotThere = {"E:ENOENT", "E:EACCES", "E:EACCES"};
  // ENOENT occurs on machines without these devices.
  constexpr Expected kDevice = {"E:ENOENT", "E:EACCES", "E:EACCES|ENOENT"};
  constexpr const char* kNames =
      "allowed: without namespaces stat() is not restricted (README)";
  constexpr Expected kNamesLeak = {"E:ENOENT", "E:EACCES", kNames};
  return {
      {32, "read_passwd", kNotThere,
       [](const Targets&) { return Open("/etc/passwd"); }},
      {32, "read_secret", kNotThere,
       [](const Targets& t) { return Open(t.secret_file); }},
      {32, "read_other_backend", kNotThere,
       [](const Targets& t) { return Open(t.other_file); }},
      {32, "list_root_of_host", kNotThere,
       [](const Targets&) { return Open("/home", O_RDONLY | O_DIRECTORY); }},
      {32, "host_mem", kNotThere,
       [](const Targets& t) { return OfProcess(t.application_pid, "mem"); }},
      {32, "host_fd", kNotThere,
       [](const Targets& t) { return OfProcess(t.application_pid, "fd"); }},
      {32, "host_environ", kNotThere,
       [](const Targets& t) {
         return OfProcess(t.application_pid, "environ");
       }},
      {32, "host_maps", kNotThere,
       [](const Targets& t) { return OfProcess(t.application_pid, "maps"); }},
      {32,
       "open_path_only",
       {"E:ENOENT", "E:EACCES",
        "allowed: an O_PATH descriptor reads nothing, as stat() (README)"},
       [](const Targets& t) { return Open(t.secret_file, O_PATH); }},

      {32,
       "open_library",
       {"allowed: the dynamic linker reads them", "E:EACCES"},
       OpenLibrary},
      {32, "list_root", kEacces,
       [](const Targets&) { return Open("/", O_RDONLY | O_DIRECTORY); }},

      {33, "dot_dot_from_descriptors", Everywhere("ok"), UpFromDescriptors},
      {33, "dot_dot_from_own_file", kNotThere, UpFromOwnFile},
      Call(33, "fchdir", SYS_fchdir),
      Call(33, "chdir", SYS_chdir),
      Call(33, "openat2", SYS_openat2, kEacces),
      {33, "root_of_host", kNotThere,
       [](const Targets& t) {
         return OfProcess(t.application_pid, "root/etc/passwd");
       }},
      {34, "reopen_for_writing", kEacces, ReopenForWriting},
      {34,
       "write_input",
       {"n/a: no media in the zygote", "E:EBADF"},
       WriteInput},
      Call(34, "pwrite64", SYS_pwrite64),

      {35, "write_own_file", kEacces,
       [](const Targets& t) { return Open(t.own_file, O_WRONLY); }},
      {35, "truncate_by_open", kEacces,
       [](const Targets& t) { return Open(t.own_file, O_RDONLY | O_TRUNC); }},
      {35, "rename", kKilled,
       [](const Targets& t) { return Answer(OnOwnFile(t, SYS_rename, -1)); }},
      {35, "renameat2", kKilled,
       [](const Targets& t) {
         return Attempt(Call(0, "", SYS_renameat2)).Run(t);
       }},
      {35, "link", kKilled,
       [](const Targets& t) { return Answer(OnOwnFile(t, SYS_link, -1)); }},
      {35, "unlink", kKilled,
       [](const Targets& t) { return Answer(OnOwnFile(t, SYS_unlink)); }},
      {35, "chmod", kKilled,
       [](const Targets& t) { return Answer(OnOwnFile(t, SYS_chmod, 0777)); }},
      {35, "chown", kKilled,
       [](const Targets& t) {
         return Answer(OnOwnFile(t, SYS_chown, -1, -1));
       }},
      {35, "truncate", kKilled,
       [](const Targets& t) { return Answer(OnOwnFile(t, SYS_truncate, 0)); }},
      Call(35, "utimensat", SYS_utimensat),
      Call(35, "setxattr", SYS_setxattr),
      Call(35, "fchmod", SYS_fchmod),
      Call(35, "copy_file_range", SYS_copy_file_range),

      Call(36, "symlink", SYS_symlink),
      Call(36, "mkdir", SYS_mkdir),
      {36, "make_file", kEacces,
       [](const Targets&) { return Open("/tmp/planted", O_WRONLY | O_CREAT); }},
      {36, "make_unnamed_file", kEacces,
       [](const Targets&) { return Open("/tmp", O_RDWR | O_TMPFILE); }},

      Call(37, "mknod", SYS_mknod),
      {37, "dev_mem", kDevice, [](const Targets&) { return Open("/dev/mem"); }},
      {37, "dev_kmsg", kDevice,
       [](const Targets&) { return Open("/dev/kmsg"); }},
      {37, "dev_fuse", kDevice,
       [](const Targets&) { return Open("/dev/fuse"); }},
      {37, "dev_kvm", kDevice, [](const Targets&) { return Open("/dev/kvm"); }},
      {37, "dev_dri", kDevice,
       [](const Targets&) { return Open("/dev/dri/card0"); }},
      {37, "dev_tty", kDevice, [](const Targets&) { return Open("/dev/tty"); }},

      {38, "execve_set_uid", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_execve, "/bin/su", 0, 0));
       }},
      Call(38, "flock", SYS_flock),
      {38, "lock", Everywhere("E:EPERM"),
       [](const Targets&) { return Lock(F_SETLK); }},
      {38, "ofd_lock", Everywhere("E:EPERM"),
       [](const Targets&) { return Lock(F_OFD_SETLK); }},
      {38, "lease", Everywhere("E:EPERM"),
       [](const Targets&) { return Lock(F_SETLEASE); }},

      {39, "stat_passwd", kNamesLeak,
       [](const Targets&) { return Stat("/etc/passwd"); }},
      {39, "stat_secret", kNamesLeak,
       [](const Targets& t) { return Stat(t.secret_file); }},
      {39, "stat_host_process", kNamesLeak,
       [](const Targets& t) {
         return Stat("/proc/" + std::to_string(t.application_pid));
       }},
      {39, "access_secret", kNamesLeak,
       [](const Targets& t) {
         return Answer(access(t.secret_file.c_str(), R_OK));
       }},
      {39, "statfs_of_host", kNamesLeak,
       [](const Targets&) {
         struct statfs status;
         return Answer(statfs("/home", &status));
       }},
  };
}

}  // namespace bulkhead::tests
