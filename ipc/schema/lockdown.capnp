# SPDX-License-Identifier: Apache-2.0
# The lock-down of one backend, into which core/supervisor/sandbox compiled its
# sandbox policy. The reaper and the zygote install the lock-down without
# knowing the policy.
#
# bulkheadd writes the message into a sealed memfd before the backend starts.
# The reader trusts the message. A comment stands below the declaration that it
# describes.
@0x92a11ce1d488844e;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");

struct Lockdown {
  # Each filter is a seccomp BPF program: an array of struct sock_filter in
  # native byte order.
  landlock @0 :Landlock;
  reaperFilter @1 :Data;
  # The filter of the reaper.
  zygoteFilter @2 :Data;
  # Stage 1: the zygote installs this filter before it loads vendor code.
  sessionFilter @3 :Data;
  # Stage 2: a worker installs this filter on top, before its first byte of
  # media.
  pluginPath @4 :Text;
  # The path of the plugin's shared object in the new root, for the dynamic
  # linker.
  entrySymbol @5 :Text;
  # The symbol in the shared object: the attr of the entry point.
  disableSpeculation @6 :Bool;
  # True if the processes disable speculative execution features for themselves.
  notifies @7 :Bool;
  # True if the zygote's filter has a listener: a descriptor that receives the
  # calls which the filter refers to bulkheadd. The zygote sends the listener
  # with ZygoteEvent.locked and does not keep it.
  devices @8 :List(UInt64);
  # The device numbers of the granted device nodes. Workers inherit the
  # descriptors of these nodes that the plugin opened while it was loaded.
}

struct Landlock {
  abi @0 :UInt32;
  # The Landlock ABI version; 0 if this kernel has no Landlock.
  handledAccessFs @1 :UInt64;
  handledAccessNet @2 :UInt64;
  scoped @3 :UInt64;
  # The three fields of struct landlock_ruleset_attr.
  rules @4 :List(PathRule);
  # The rules of stage 1. Stage 2 installs the same ruleset without rules.
}

struct PathRule {
  path @0 :Text;
  access @1 :UInt64;
  # The allowed accesses, as in struct landlock_path_beneath_attr.
  identity @2 :ObjectIdentity;
  # The file or directory that bulkheadd checked: the rule is dropped if another
  # one lies there now. Null for the system's libraries.
}

struct ObjectIdentity {
  device @0 :UInt64;
  # The device number of the file system.
  inode @1 :UInt64;
}
