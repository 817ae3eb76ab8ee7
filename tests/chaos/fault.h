// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace bulkhead::tests {

// The script of the chaos backend: one fault a line, in words `key=value`.
//
//   # the third life of the stream is a good one
//   at=packet:5 do=segfault lives=1-2
//   at=picture:1024 do=exit:7 lives=1
//   at=packet do=abort chance=0.01 seed=42
//   at=probe do=hang
//
// `at` is where, with a number that only some steps have: the packet of this
// life, from 0, or the timestamp of the picture; without the number each one.
// `do` is what, with its argument. `lives` says in which lives of the stream it
// happens, from 1, and `workers` in which session workers of its zygote: lists
// of numbers and ranges; without them in all. With a `chance` it happens now
// and then, drawn from the seed, the life and the count of such steps, so that
// the same run draws the same.
enum class Step {
  kLoad,     // the entry function, in the zygote
  kProbe,    // enumerate_devices
  kOpen,     // open
  kPacket,   // send_packet of a packet
  kPicture,  // receive_frame that has one
  kFlush,    // flush
  kEnd,      // send_packet of the end
  kClose,    // close
};

enum class Deed {
  // To the process, at any step.
  kSegfault,
  kAbort,
  kExit,             // :CODE
  kHang,             // for ever, in a call that an observer knows: see held.h
  kSpin,             // for ever
  kStop,             // tries to, then hangs
  kSlow,             // :MILLISECONDS, then goes on
  kThrow,            // an exception, through the C ABI
  kTakeMemory,       // all address space that it gets; goes on
  kTakeDescriptors,  // all that it gets; goes on
  kLeak,             // :BYTES of touched memory; goes on
  // To the answer. At load any of them: no table.
  kError,  // :RESULT, also one that does not exist
  kNull,   // at open no decoder, at probe no device, at a picture no planes
  // Of the devices.
  kNone,
  kMany,
  kStranger,
  kNameless,
  // Of a picture.
  kTwice,
  kPts,  // :TIMESTAMP
  kNoPts,
  kNoFormat,
  kUnknownFormat,
  kEmpty,   // no pixels
  kHuge,    // a size that the planes do not have
  kOther,   // another size, as large as the planes allow
  kNarrow,  // strides below the width
  kStray,   // gives back buffers that it never had
};

struct Fault {
  using Range = std::pair<uint64_t, uint64_t>;  // both ends belong to it

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

// Which life it is. Both count from 1; 0 in the zygote and its probes, where
// only faults without `lives` and `workers` happen.
struct Life {
  uint64_t of_stream = 0;
  uint64_t worker = 0;
};

// What is wrong with the script names its line.
tl::expected<std::vector<Fault>, std::string> ParseFaults(
    const std::string& script);

// The first fault that happens at that step, or null. `count`: of such steps in
// this life, from 0; `number`: what the step's number is compared with.
const Fault* FindFault(const std::vector<Fault>& faults, const Life& life,
                       Step step, uint64_t count, int64_t number);

}  // namespace bulkhead::tests
