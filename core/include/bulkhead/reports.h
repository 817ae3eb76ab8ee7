// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/device_capabilities.h"
#include "bulkhead/diagnostic.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/host_options.h"
#include "bulkhead/shadow.h"

namespace bulkhead {

// Reports of a Host about itself: plain values that describe the moment of the
// call.

// One device of one backend.
struct DeviceInfo {
  // The name that VideoOptions::device takes: "cpu:0", "acme/npu:1". Has no
  // index until the backend has run once and counted its devices.
  std::string name;
  std::string backend;
  std::string description;  // The backend's words; empty until it has run.
  std::string state;        // The state of the backend, as in BackendInfo.
  std::string reason;       // Why the device is not available, if it is not.
  DeviceCapabilities capabilities = {};
};

// One backend and its processes.
struct BackendInfo {
  std::string name;  // The name of the entry point.
  std::string distribution;
  std::string version;
  std::string file;   // The shared object.
  std::string state;  // "discovered", "starting", "ready", "backing-off", ...
  std::string reason;
  // The devices that the manifest reserves; once the backend has run, the
  // devices that it counted.
  std::vector<DeviceInfo> devices;
  std::vector<std::string> streams;  // The kinds it decodes: "audio", "video".
  // "clone" if the workers of sessions are clones of one process that has
  // loaded the backend, "exec" if each session loads the backend anew. For
  // "exec", `start_reason` says who decided so.
  std::string start;
  std::string start_reason;
  SandboxTier tier;
  uint32_t incarnation = 0;  // The number of starts of the backend.
  int zygote_pid = 0;        // 0 if the backend is not running.
  int reaper_pid = 0;
  std::vector<int> session_pids;  // The pids of the workers that live.
  // The permissions that the backend's manifest (bulkhead.toml) asks for,
  // written as `bulkhead grant` takes them: "device=/dev/dri/renderD*",
  // "read=/usr/share/acme", "ioctl=drm", "memory=8G", "threads=64".
  std::vector<std::string> asked;
  // The permissions in `asked` that the operator has granted. They apply from
  // the next start of the backend.
  std::vector<std::string> granted;
  // The results of comparing this backend's frames (HostOptions::shadow).
  ShadowReport shadow = {};
};

// One directory of the plugin path and what was found in it.
struct SearchedPlace {
  std::string path;
  std::string origin;   // Why it is searched: "BULKHEAD_PATH", "built in".
  std::string outcome;  // "2 distributions, 1 backend", "does not exist", ...
};

// The backends of a Host and how they were found.
struct BackendReport {
  std::vector<BackendInfo> backends;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // In order of precedence.
};

// The entry points on a plugin path and how they were found.
struct EntryPointReport {
  EntryPoints entry_points;  // Entry points of every group, by precedence.
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
};

// One part of the sandbox that this machine does not provide.
struct SandboxGap {
  std::string missing;
  std::string evidence;  // The observation that shows the gap.
  std::string remedy;    // Exact steps for an operator; may have several lines.
  std::string cost;      // The consequence of leaving the gap open.
};

// The sandbox in force on this machine.
struct SandboxReport {
  SandboxTier tier;
  std::vector<SandboxGap> gaps;      // Gaps that prevent tier full come first.
  std::vector<std::string> reasons;  // The gaps, one sentence each.
  uint32_t landlock_abi;             // 0 if the kernel has no Landlock.
  // True if backends run with a user id of their own, false if with the
  // application's.
  bool own_uid;
  // The cgroup (version 2) directory below which each backend gets a cgroup,
  // and the controllers that limit it: of "memory", "pids" and "cpu". Empty
  // if backends get no cgroup.
  std::string cgroup;
  std::vector<std::string> cgroup_controllers;
  // True if no backend runs without the controller "memory"
  // (HostOptions::require_memory_cgroup).
  bool memory_cgroup_required;
};

}  // namespace bulkhead
