// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/diagnostic.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/host_options.h"

namespace bulkhead {

// What a Host tells about itself. Plain values, of the moment of the call.

struct DeviceInfo {
  // As VideoOptions::device names it: "cpu:0", "acme/npu:1"; without an index
  // until the backend ran once and counted.
  std::string name;
  std::string backend;
  std::string description;  // the backend's words; empty until it ran
  std::string state;        // of the backend, as in BackendInfo
  std::string reason;       // why it is not available
};

struct BackendInfo {
  std::string name;  // of the entry point
  std::string distribution;
  std::string version;
  std::string file;
  std::string state;  // discovered, starting, ready, backing-off, …
  std::string reason;
  std::vector<DeviceInfo> devices;   // reserved, or counted once it ran
  std::vector<std::string> streams;  // that it decodes: "audio", "video"
  SandboxTier tier;
  uint32_t incarnation = 0;  // how often it was started
  int zygote_pid = 0;        // 0: not running
  int reaper_pid = 0;
  std::vector<int> session_pids;
  // Permissions that its manifest asks for, as `bulkhead grant` takes them:
  // "device=/dev/dri/renderD*", "read=/usr/share/acme", "ioctl=drm",
  // "memory=8G", "threads=64".
  std::vector<std::string> asked;
  // What of them the operator granted, for when it is started next.
  std::vector<std::string> granted;
};

// A directory of the plugin path and what came of it.
struct SearchedPlace {
  std::string path;
  std::string origin;   // why it is searched: "BULKHEAD_PATH", "built in"
  std::string outcome;  // "2 distributions, 1 backend", "does not exist", …
};

struct BackendReport {
  std::vector<BackendInfo> backends;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // in the order of precedence
};

struct EntryPointReport {
  EntryPoints entry_points;  // of every group, in the order of precedence
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
};

// One thing that the sandbox lacks on this machine.
struct SandboxGap {
  std::string missing;
  std::string evidence;  // why: what was seen
  std::string remedy;    // what an operator does about it, exactly; lines
  std::string cost;      // what it means to leave it as it is
};

struct SandboxReport {
  SandboxTier tier;
  std::vector<SandboxGap> gaps;      // what keeps it from tier full first
  std::vector<std::string> reasons;  // the same, a sentence for each
  uint32_t landlock_abi;
  bool own_uid;
  // Directory of cgroup version 2 in which each backend gets one of its own,
  // and what that limits: of "memory", "pids", "cpu". Empty: none does.
  std::string cgroup;
  std::vector<std::string> cgroup_controllers;
};

}  // namespace bulkhead
