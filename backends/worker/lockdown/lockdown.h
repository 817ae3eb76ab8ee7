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

// Installs the restrictions that bulkheadd compiled upon the calling process.
// Knows no policy: which calls and files are allowed arrives as data, in a
// sealed memfd made by bulkheadd, which is trusted.
//
//   zygote:          ASSIGN lockdown = Lockdown::Read(kZygoteLockdownFd)
//                    lockdown.InstallStage1(kZygoteControlFd),
//                    dlopen(plugin_path()), ...
//   session worker:  lockdown.InstallStage2(), hello, first byte of media
//
// Each stage either is in force for the whole process or is an error, on which
// the process must end: a half installed stage cannot be taken back. Nothing of
// it can be undone later.
//
// Threads: both stages are for a process with a single thread. InstallStage1
// refuses to run in any other, since Landlock binds only the calling thread.
class Lockdown {
 public:
  static ipc::Expected<Lockdown> Read(int fd);

  // Where the object lies for the dynamic linker, and the symbol to call.
  const std::string& plugin_path() const { return plugin_path_; }
  const std::string& entry_symbol() const { return entry_symbol_; }
  // Whether the open file is one of the devices that were granted.
  bool IsGrantedDevice(int fd) const;
  bool has_devices() const { return !devices_.empty(); }

  // The zygote, before vendor code is in the process. Where the lock-down asks
  // for it, sends the listener of its filter over `control` to bulkheadd, which
  // from then on ends whoever makes a forbidden call, and keeps no copy of it:
  // its holder could let such calls pass.
  ipc::Expected<void> InstallStage1(int control) const;
  // A process cloned from it, before it sees media. Signals from here on reach
  // this process alone, which is the one thing that the data cannot say.
  ipc::Expected<void> InstallStage2() const;
  // The reaper, after it has started the zygote.
  ipc::Expected<void> InstallReaperFilter() const;

 private:
  struct ObjectIdentity {
    uint64_t device;
    uint64_t inode;
  };
  struct PathRule {
    std::string path;
    uint64_t access;
    std::optional<ObjectIdentity> granted;
  };

  Lockdown() = default;

  static int Open(const PathRule& rule);
  ipc::Expected<void> RestrictFiles(const std::vector<PathRule>& rules) const;

  uint32_t landlock_abi_ = 0;
  // As the kernel takes it: struct landlock_ruleset_attr of ABI 6.
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
