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

// The move of a stream to another device: the one that VideoOptions::on_failure
// or AudioOptions::on_failure names. Happens at most once in a stream, and only
// if the caller named the device.
//
// Condition. The backend of the first device has failed for good: a call, or
// the opening, would have ended with kBackendUnavailable, kBackendLost,
// kBackendMisbehaved or kPoisonedInput, or with kDeadlineExceeded because its
// workers were killed for being late. Recovery on the same device is tried
// first. Other codes are no failure of a backend: they are about the file
// (kBadInput), the call, or a limit or a sandbox that would stop another
// device, too. kUnsupported causes no failover either: all files of a codec
// that the device lacks would silently be decoded on the other device.
//
// Procedure. A worker of the other device opens the same bytes, and the call
// continues at the frame that the caller waits for: no frame is lost, none
// comes twice. First, delivered frames are decoded again on the other device
// and compared bit for bit. If the call is Next(), these are the last frames
// that Next() delivered, up to 64. If the call asks by number or time, these
// are the last frames of such calls, up to 8. If frames of Next() differ after
// a seek, all frames that Next() has delivered are compared, from the beginning
// up to the first that differs. Whatever the result, the other device alone
// decodes the following frames, from a keyframe on, so that no picture refers
// to pictures of two devices. All frames of one batch, and all samples of one
// call, come from one device. The options backend_options are for the first
// device; a device of another backend does not get them.
//
// If the other device fails too, the error has both causes, and the first such
// error of a stream is sent as an event (Event::Kind::kFailoverFailed). The
// stream stays on the other device: the next call tries that device again.
struct Failover {
  // The result of comparing frames that `to` decodes with frames that `from`
  // had delivered.
  enum class Proof : uint8_t {
    kNothingBefore,  // `from` had delivered no frame.
    kSame,           // `compared` of them are the same on `to`.
    kDifferent,      // One differs, so later frames may not fit earlier frames.
    // No frame was compared: the stream is audio, or `from` had delivered
    // frames only by the other kind of call. Next() is one kind, and calls by
    // number or time are the other.
    kNone,
  };

  std::string from;  // "openreg:1", or as the caller named it.
  std::string to;
  // The number of the frame (or audio sample) that the caller waited for.
  uint64_t frame = 0;
  Proof proof = Proof::kNothingBefore;
  uint64_t compared = 0;
  Status cause;      // The error with which the call would have ended.
  std::string text;  // All of this in one sentence, for people.
};

// One recovery of a video or audio stream: a worker died, or was killed for
// what it did, and the call that was under way continues with another worker.
// The caller of that call gets the same result, later.
struct Recovery {
  std::string path;    // The path of the file, as the caller gave it.
  std::string device;  // "openreg:1"
  ExitReport cause;    // The end of the last worker, with its position.
  uint32_t attempts;   // The number of workers that ended during the call.
  // The time from the first end that was noticed until the caller has the
  // result.
  std::chrono::microseconds took;
  // Set if the stream moved to another device, which is then `device`. `cause`
  // and `attempts` are then about the workers of both.
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
  // The time from the request for the latest worker until the worker reported
  // that its sandbox is complete.
  std::chrono::microseconds worker_start{0};
  std::optional<Failover> failover = {};  // Set once the device was changed.
};

}  // namespace bulkhead
