// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ipc/error.h"

namespace bulkhead::worker {

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
// An installed stage binds the whole process and cannot be undone. If a stage
// fails, the process must end, since a partly installed stage cannot be
// removed.
//
// Threads: both stages are for a process with a single thread. InstallStage1
// fails in any other process, since Landlock binds only the calling thread.
class Lockdown {
 public:
  // The tasks that a session worker may start.
  enum class Tasks {
    kLeaveSome,  // three quarters of the backend's
    kAll,        // if it has no media but our own
  };

  static ipc::Expected<Lockdown> Read(int fd);

  // The path of the plugin for the dynamic linker, and the symbol to call.
  const std::string& plugin_path() const { return plugin_path_; }
  const std::string& entry_symbol() const { return entry_symbol_; }
  // Returns whether the open file is one of the granted devices.
  bool IsGrantedDevice(int fd) const;
  bool has_devices() const { return !devices_.empty(); }

  // Restricts the zygote, before vendor code is loaded. If the data asks for
  // notifications, also sends the filter's listener over `control` to
  // bulkheadd, which then ends every process that makes a forbidden system
  // call. No copy of the listener stays here, since its holder could let such
  // calls pass. The open file `object` stays readable whatever its path is: in
  // tier reduced that path may lead through a directory that this process may
  // not enter.
  ipc::Expected<void> InstallStage1(int control, int object) const;
  // Restricts a process cloned from the zygote, before the process sees media.
  // The caller has installed its handlers of faults (ipc::kFaults): no others
  // are left, and none can be installed afterwards. Also limits signals to the
  // process itself. That filter is built here, since it contains the pid, which
  // bulkheadd cannot know in advance.
  ipc::Expected<void> InstallStage2(Tasks tasks = Tasks::kLeaveSome) const;
  // Restricts the reaper, after it has started the zygote.
  ipc::Expected<void> InstallReaperFilter() const;

 private:
  struct ObjectIdentity {
    uint64_t device;
    uint64_t inode;
  };
  struct PathRule {
    std::string path;
    uint64_t access;
    std::optional<ObjectIdentity> identity;
  };

  Lockdown() = default;

  static int Open(const PathRule& rule);
  ipc::Expected<void> RestrictFiles(const std::vector<PathRule>& rules,
                                    int object) const;

  uint32_t landlock_abi_ = 0;
  // Has the layout of the kernel's struct landlock_ruleset_attr, ABI 6.
  struct {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
  } handled_ = {};
  std::vector<PathRule> rules_;
  std::vector<uint64_t> devices_;
  std::vector<sock_filter> reaper_filter_;
  std::vector<sock_filter> zygote_filter_;
  std::vector<sock_filter> session_filter_;
  std::string plugin_path_;
  std::string entry_symbol_;
  bool disable_speculation_ = false;
  bool notifies_ = false;
};

}  // namespace bulkhead::worker
