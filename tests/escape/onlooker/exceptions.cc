// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/onlooker/exceptions.h"

#include <fnmatch.h>

namespace bulkhead::tests {
namespace {

constexpr const char* kWhich = "which process it is";
constexpr const char* kTime = "processor time, and how often it waited";
constexpr const char* kMemory = "sizes of memory";
// A worker converts pictures in a thread of its own once a processor is free.
constexpr const char* kThreads = "the number of threads";
constexpr const char* kNow = "whether it runs at the moment";
constexpr const char* kZygote =
    "what the zygote had mapped, before there was media";

// A pattern of names of a Snapshot, as of fnmatch(), and why what it fits may
// differ: null if it must not. The first pattern that fits counts.
struct Exception {
  const char* name;
  const char* reason;
};
constexpr Exception kExceptions[] = {
    {"*/status:Pid", kWhich},
    {"*/status:Tgid", kWhich},
    {"*/status:PPid", kWhich},
    {"*/status:NStgid", kWhich},
    {"*/status:NSpid", kWhich},
    {"*/status:NSpgid", kWhich},
    {"*/status:NSsid", kWhich},
    {"*/children", kWhich},
    {"*/stat:4", kWhich},  // parent
    {"*/stat:5", kWhich},  // process group
    {"*/stat:6", kWhich},  // session
    {"*/stat:22", "when it began"},
    {"*/status:Threads", kThreads},
    {"*/stat:20", kThreads},
    {"*/status:State", kNow},
    {"*/stat:3", kNow},   // state
    {"*/stat:39", kNow},  // processor
    {"*/status:*_ctxt_switches", kTime},
    {"*/stat:1[4567]", kTime},
    {"*/stat:4[234]", kTime},  // waits for devices, guests
    {"*/schedstat", kTime},
    {"*/sched:policy", nullptr},
    {"*/sched:prio", nullptr},
    {"*/sched:se.slice", nullptr},
    {"*/sched:se.load.weight", nullptr},
    {"*/sched:*", kTime},  // other fields on other kernels
    {"*/status:Vm*", kMemory},
    {"*/status:Rss*", kMemory},
    {"*/stat:1[0123]", kMemory},  // page faults
    {"*/stat:23", kMemory},
    {"*/stat:24", kMemory},
    {"*/statm", kMemory},
    {"*/oom_score", kMemory},
    {"*/limits:Max data size", kZygote},
    {"*/limits:Max address space", kZygote},
    {"*/arch_status:AVX512_elapsed_ms", "when it used AVX-512 last"},
};

}  // namespace

const char* ReasonToDiffer(const std::string& name) {
  for (const Exception& exception : kExceptions) {
    if (fnmatch(exception.name, name.c_str(), 0) == 0) return exception.reason;
  }
  return nullptr;
}

}  // namespace bulkhead::tests
