// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ipc/error.h"

namespace bulkhead::worker::lockdown {

// Restricts the calling process: seccomp filters, Landlock, and limits.
// Contains no policy: bulkheadd, which is trusted, compiles the allowed system
// calls and files to data, and passes the data in a sealed memfd.
//
//   zygote:          lockdown = Lockdown::Read(kZygoteLockdownFd)
//                    lockdown.InstallStage1(kZygoteControlFd,
//                                           kZygotePluginFd)
//                    dlopen(plugin_path()), ...
//   session worker:  lockdown.InstallStage2(), hello, first byte of media
//
// An installed stage binds the whole process and cannot be undone, not even if
// it was installed only in part. So if a stage fails, the process must end.
//
// Threads: both stages are for a process with a single thread. InstallStage1
// fails in any other process, since Landlock binds only the calling thread.
class Lockdown {
 public:
  // Says how many of the backend's tasks (threads, processes) a worker may use.
  enum class Tasks {
    kLeaveSome,  // three quarters, so that the zygote can clone more workers
    kAll,        // all; only for workers that decode only Bulkhead's own media
  };

  // Reads the data from the memfd that bulkheadd passed.
  static ipc::Expected<Lockdown> Read(int fd);

  // The path from which the dynamic linker loads the vendor's shared object,
  // and the name of the object's entry function.
  const std::string& plugin_path() const { return plugin_path_; }
  const std::string& entry_symbol() const { return entry_symbol_; }
  // Returns whether the open file is one of the granted devices.
  bool IsGrantedDevice(int fd) const;
  bool has_devices() const { return !devices_.empty(); }

  // Restricts the zygote, before vendor code is loaded. `control` is the socket
  // to bulkheadd. If the data asks for seccomp notifications, sends the
  // filter's listener to bulkheadd, which then ends every process that makes a
  // forbidden system call. This process keeps no copy of the listener, since
  // the holder of a copy could allow such calls. `object` is the vendor's
  // shared object, opened by bulkheadd. Landlock lets the process read it even
  // if its path leads through a directory that the process may not enter
  // (sandbox tier reduced).
  ipc::Expected<void> InstallStage1(int control, int object) const;
  // Restricts a worker, which is a clone of the zygote, before it sees media.
  // The caller has installed its fault handlers (ipc::kFaults). Removes all
  // other handlers; none can be installed afterwards. Installs two filters, of
  // which one lets the worker send signals only to itself. The worker builds
  // that one, since bulkheadd cannot know the worker's pid in advance.
  ipc::Expected<void> InstallStage2(Tasks tasks = Tasks::kLeaveSome) const;
  // Restricts the reaper, after it has started the zygote.
  ipc::Expected<void> InstallReaperFilter() const;

 private:
  // The file that bulkheadd has checked, as stat() reports it: st_dev, st_ino.
  struct ObjectIdentity {
    uint64_t device;
    uint64_t inode;
  };
  struct PathRule {
    std::string path;
    uint64_t access;                         // bits of LANDLOCK_ACCESS_FS_*
    std::optional<ObjectIdentity> identity;  // empty: any file at the path
  };

  Lockdown() = default;

  // Opens the file of a rule with O_PATH. Returns -1 and sets errno if that
  // fails, and if the path now leads to another file than bulkheadd has checked
  // (ENOENT).
  static int Open(const PathRule& rule);
  // Installs a Landlock ruleset. The open file `object` stays readable; a
  // negative `object` means none.
  ipc::Expected<void> RestrictFiles(const std::vector<PathRule>& rules,
                                    int object) const;

  uint32_t landlock_abi_ = 0;  // 0: Landlock is not used
  // Has the layout of the kernel's struct landlock_ruleset_attr, ABI 6.
  struct {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
  } handled_ = {};
  std::vector<PathRule> rules_;
  std::vector<uint64_t> devices_;  // st_rdev of each granted device
  std::vector<sock_filter> reaper_filter_;
  std::vector<sock_filter> zygote_filter_;
  std::vector<sock_filter> session_filter_;
  std::string plugin_path_;
  std::string entry_symbol_;
  bool disable_speculation_ = false;
  bool notifies_ = false;  // the zygote's filter has a listener
};

}  // namespace bulkhead::worker::lockdown
