// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bulkhead/exit_report.h"
#include "bulkhead/status.h"

namespace bulkhead {

// A stream that goes on on another device, which VideoOptions::on_failure or
// AudioOptions::on_failure names. Happens at most once in a stream, and never
// unless the caller named the device.
//
// When. The backend of the first device has failed for good: a call, or the
// opening, would have ended with kBackendUnavailable, kBackendLost,
// kBackendMisbehaved or kPoisonedInput, or with kDeadlineExceeded because its
// workers were killed for being late. The recovery on the same device comes
// first. Other codes are no failure of a backend: they are about the file
// (kBadInput), the call, or limits and a sandbox that another device would meet
// as well. Neither is kUnsupported: if the device does not decode the codec,
// all such files would be decoded elsewhere, and nobody would notice that the
// device is of no use for them.
//
// How. A worker of the other device opens the same bytes, and the call goes on
// at the frame that the caller waits for: no frame is lost, none comes twice.
// Before, frames that were delivered are decoded again and compared bit for
// bit: those that Next() delivered last, up to 64, when Next() goes on; those
// that were found by number or time last, up to 8, when such a call goes on. If
// frames of Next() differ after a seek, all are compared from the beginning on,
// up to the first that differs. Whatever comes of that, the following frames
// are decoded by the other device alone, from a keyframe on, so that no picture
// is made of pictures of two devices. All frames of one batch, and all samples
// of one call, come from one device. The options backend_options are for the
// first device; a device of another backend does not get them.
//
// If the other device fails too, the error has both causes, and the first such
// error of a stream is sent as an event (Event::Kind::kFailoverFailed). The
// stream stays there: the next call tries it again.
struct Failover {
  // Says whether `to` gives the same frames that `from` had delivered.
  enum class Proof : uint8_t {
    kNothingBefore,  // There are none.
    kSame,           // `compared` of them are the same on `to`.
    kDifferent,      // One differs, so those after may not fit those before.
    kNone,  // None was compared: samples, or frames of the other kind of call
            // (Next(), or by number and time) than the one that goes on.
  };

  std::string from;  // "openreg:1", or as the caller named it.
  std::string to;
  // The frame, of audio the sample, that the caller waited for.
  uint64_t frame = 0;
  Proof proof = Proof::kNothingBefore;
  uint64_t compared = 0;
  Status cause;      // The error with which the call would have ended.
  std::string text;  // All of this in one sentence, for people.
};

// One recovery of a video or audio stream: a worker died, or was killed for
// what it did, and the call that was under way goes on with another worker. The
// caller of that call gets the same result, later.
struct Recovery {
  std::string path;    // The path of the file, as the caller gave it.
  std::string device;  // "openreg:1"
  ExitReport cause;    // How the last of the workers ended, and where.
  uint32_t attempts;   // The number of workers that ended during the call.
  // The time from the first end that was noticed until the caller has the
  // result.
  std::chrono::microseconds took;
  // Set if the stream went on on another device, `device`. `cause` and
  // `attempts` are then about the workers of both.
  std::optional<Failover> failover = {};
};

// Called with each recovery, on the thread that is inside a call of the
// decoder and before that call returns; never on another thread. The observer
// must not use the decoder and must not throw.
using RecoveryObserver = std::function<void(const Recovery&)>;

// The recoveries of one decoder.
struct RecoveryStats {
  uint32_t restarts = 0;   // The number of workers that were lost.
  std::string last_cause;  // The last cause, in words; empty if none.
  // The time that the latest worker took from the request to the report that it
  // is locked down.
  std::chrono::microseconds worker_start{0};
  std::optional<Failover> failover = {};  // Set once the device was changed.
};

}  // namespace bulkhead
