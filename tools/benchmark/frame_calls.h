// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <map>
#include <string>

namespace bulkhead::benchmark {

// The system calls of one side, application or worker, while it never has to
// wait for the other side.
struct SideCalls {
  uint64_t frames = 0;
  // The count of each system call, by the number of the call.
  std::map<uint32_t, uint64_t> calls;

  double PerFrame() const;
  // Returns "0.03 (ppoll 1, read 1)": the calls per frame, and all calls.
  std::string Text() const;
};

struct FrameCalls {
  // The calls of an application that takes frames, which are decoded already.
  SideCalls application;
  // The calls of a worker that decodes into free slots. Includes the calls that
  // read the media, wake the worker before the first frame, and put it to sleep
  // after the last.
  SideCalls worker;
};

// Counts the system calls of both sides on a small clip, in a Host made with
// `options`. Returns kUnsupported if this user may not trace the worker.
Result<FrameCalls> CountFrameCalls(HostOptions options);

}  // namespace bulkhead::benchmark
