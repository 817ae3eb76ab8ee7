// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <map>
#include <string>

namespace bulkhead::benchmark {

// The system calls of one side while frames are there to be taken or room is
// there to be filled, by the number of the call.
struct SideCalls {
  uint64_t frames = 0;
  std::map<uint32_t, uint64_t> calls;

  double PerFrame() const;
  // Returns "0.03 (ppoll 1, read 1)"; calls without a name by their number.
  std::string Text() const;
};

struct FrameCalls {
  // The calls of an application that takes frames which are all decoded
  // already.
  SideCalls application;
  // The calls of a worker that decodes into slots which are all free already.
  // Includes how it wakes before the first and falls asleep after the last, and
  // how it reads the media.
  SideCalls worker;
};

// Counts the system calls of both on a small clip. `options` are the
// Host's. kUnsupported if the kernel does not let this user trace the worker.
Result<FrameCalls> CountFrameCalls(HostOptions options);

}  // namespace bulkhead::benchmark
