// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace bulkhead::tests {

// The script of the chaos backend. Each line is one fault, in words
// `key=value`:
//
//   # the third life of the stream is a good one
//   at=packet:5 do=segfault lives=1-2
//   at=picture:1024 do=exit:7 lives=1
//   at=packet do=abort chance=0.01 seed=42
//   at=probe do=hang
//
// `at` is the step at which the fault happens. Two steps take a number: the
// number of the packet in this life, from 0, or the timestamp of the picture.
// Without the number, the fault happens at every such step. `do` names the
// deed, that is, the harm that is done, with its argument.
//
// `lives` says in which lives of the stream the fault happens, and `workers` in
// which session workers of the zygote. Both are lists of numbers and ranges
// that count from 1; the default is all. A life of a stream is one session
// worker that serves the stream.
//
// A fault with a `chance` happens with that probability. The draw depends only
// on the seed, the life and the count of such steps, so that the same run draws
// the same.
enum class Step {
  kLoad,     // the entry function, in the zygote
  kProbe,    // enumerate_devices
  kOpen,     // open
  kPacket,   // send_packet of a packet
  kPicture,  // a receive_frame that returns a picture
  kFlush,    // flush
  kEnd,      // send_packet of the end
  kClose,    // close
};

enum class Deed {
  // Harm to the process, possible at every step.
  kSegfault,
  kAbort,
  kTerminate,        // sends itself SIGTERM, as far as it may
  kExit,             // :CODE
  kHang,             // hangs for ever, named for IsHeld() in held.h
  kSpin,             // spins for ever
  kStop,             // tries to stop the process, then hangs
  kSlow,             // :MILLISECONDS, waits that long, then continues
  kThrow,            // throws an exception through the C ABI
  kTakeMemory,       // takes all address space that it gets, then continues
  kHideMemory,       // takes at most the argument in bytes of memory that it
                     // writes and makes read-only, then continues
  kHoard,            // takes all threads that it gets, for ever
  kNeedOrAbort,      // aborts where it does not get 8 threads
  kCrowd,            // :THREADS, starts so many that spin, then continues
  kTakeDescriptors,  // takes all descriptors that it gets, then continues
  kLeak,             // :BYTES, leaks that much touched memory, then continues
  kReserve,       // :BYTES, maps that much memory for kFill without touching it
  kReserveLater,  // :BYTES, the same, in a thread, a second later
  kFill,          // :BYTES, writes to so much of what was reserved
  kSay,           // writes to stderr; with a packet, its first bytes in hex
  // Harm to the answer of a call. At kLoad, each of them means: no
  // table.
  kError,  // :RESULT, which need not be a result that exists
  kNeed,   // :RESULT, the same where it does not get 8 threads
  kNull,   // at open no decoder, at probe no device, at a picture no planes
  // Harm to the list of devices.
  kNone,
  kMany,
  kStranger,
  kNameless,
  // Harm to a picture.
  kTwice,
  kPts,  // :TIMESTAMP
  kNoPts,
  kNoFormat,
  kUnknownFormat,
  kEmpty,   // no pixels
  kHuge,    // a size that the planes do not have
  kOther,   // another size, as large as the planes allow
  kNarrow,  // strides below the width
  kFlip,    // a bit in the second row, or of the first sample
  kStray,   // releases buffers that it never got
};

struct Fault {
  using Range = std::pair<uint64_t, uint64_t>;  // first and last, inclusive

  Step at = Step::kLoad;
  std::optional<int64_t> number;
  Deed deed = Deed::kHang;
  int64_t argument = 0;
  std::vector<Range> lives;    // empty: all
  std::vector<Range> workers;  // empty: all
  double chance = 1;
  uint64_t seed = 0;

  bool operator==(const Fault&) const = default;
};

// Numbers the life of a stream and the session worker of the zygote. Both count
// from 1. Both are 0 in the zygote and its probes, where only faults without
// `lives` and `workers` happen. The number of the worker is exact for the first
// worker of a zygote in tier full; later ones may have higher numbers.
struct Life {
  uint64_t of_stream = 0;
  uint64_t worker = 0;
};

// Parses a script. The error names the line that is wrong.
tl::expected<std::vector<Fault>, std::string> ParseFaults(
    const std::string& script);

// Returns the first fault that happens at `step`, or null. `count` is the
// number of such steps before this one in this life. `number` is compared with
// the number of the fault's step.
const Fault* FindFault(const std::vector<Fault>& faults, const Life& life,
                       Step step, uint64_t count, int64_t number);

}  // namespace bulkhead::tests
