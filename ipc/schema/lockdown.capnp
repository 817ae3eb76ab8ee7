# SPDX-License-Identifier: Apache-2.0
# What core/supervisor/sandbox compiled a policy to, for the child's side to install
# without knowing any policy. Written by bulkheadd into a sealed memfd before
# the backend starts; trusted by its reader.
@0x92a11ce1d488844e;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");

struct Lockdown {
  landlock @0 :Landlock;
  reaperFilter @1 :Data;
  # seccomp BPF programs: arrays of struct sock_filter in native byte order.
  zygoteFilter @2 :Data;
  # Stage 1: installed before vendor code is loaded.
  sessionFilter @3 :Data;
  # Stage 2: installed on top before the first byte of media.
  pluginPath @4 :Text;
  # Where the object is visible in the new root, for the dynamic linker.
  entrySymbol @5 :Text;
  # The attr of the entry point.
  disableSpeculation @6 :Bool;
  notifies @7 :Bool;
  # The zygote's filter has a listener, which its installer sends to bulkheadd as
  # `locked` and does not keep.
  devices @8 :List(UInt64);
  # The device numbers of the nodes that were granted: what a plugin has opened
  # of them while loading, its workers keep.
}

struct Landlock {
  abi @0 :UInt32;
  # 0: this kernel has none.
  handledAccessFs @1 :UInt64;
  handledAccessNet @2 :UInt64;
  scoped @3 :UInt64;
  rules @4 :List(PathRule);
  # Stage 1. Stage 2 installs the same ruleset with no rule.
}

struct PathRule {
  path @0 :Text;
  access @1 :UInt64;
  granted @2 :ObjectIdentity;
  # Null: links on the way are followed. Otherwise there may be none, and the
  # rule is for this object alone; where another lies there now, it is no rule.
}

struct ObjectIdentity {
  device @0 :UInt64;
  # Of the file system.
  inode @1 :UInt64;
}
