// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/application/supervisor_link/exit_verdict.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// The present step of a session, and the frame or sample that its caller waits
// for. The death of a worker is counted for one of three positions:
//
//   no worker has the stream open       opening, whatever the caller asked for
//   the caller waits for the index      scanning
//   otherwise                           the frame, or in audio the sample, that
//                                       the caller waits for
struct Awaited {
  using Step = Crash::Request::Kind;

  Step asked = Step::kOpen;  // the caller's request to the session
  bool opened = false;       // a live worker has the stream open
  uint64_t wanted = 0;       // the frame or sample that the caller waits for
  // True if the worker that has just died was one frame ahead: it was decoding
  // the frame after the wanted frame.
  bool ahead = false;

  // Returns the frame or sample for which a death is counted now.
  uint64_t frame() const { return wanted + (ahead ? 1 : 0); }
  // Returns the position for which a death is counted now.
  InputPosition position() const;
};

// Counts how many workers of a session have died at its present position, and
// decides whether another worker is tried. It makes all of WorkerRecovery's
// decisions about a death. It starts and sends nothing, so each decision can be
// tested by itself.
//
// Two counts exist at the position: the blamed deaths of this session, and the
// deaths that the input has caused in all sessions, as bulkheadd counts them
// (ExitVerdict::deaths_here). The larger one is used. The allowed numbers are
// in Limits: attempts_per_position, kills_per_position, restarts_per_position.
// The first line that applies to a death decides:
//
//   the worker broke the protocol            give up: kBackendMisbehaved
//   as many blamed deaths as attempts        give up, with the code of
//                                            whatever is to blame
//   a blamed death, and the call is overdue  give up: kDeadlineExceeded
//   more kills than allowed                  give up: kDeadlineExceeded if the
//                                            worker was stopped,
//                                            kResourceExhausted after SIGKILL,
//                                            else kBackendLost
//   more innocent deaths than restarts       give up: kBackendLost
//   otherwise                                try again with another worker
//
// A death is blamed if the input, the device or the backend is to blame
// (ExitVerdict::blamed). All other deaths are innocent.
//
// A worker may decode the next frame while it converts the frame that the
// caller waits for (VideoLink::was_ahead). If the worker dies over the next
// frame, another worker tries the wanted frame without decoding ahead. Once the
// caller wants the next frame, that death counts as its first (Want()).
//
// A kill is an innocent death by a signal from outside: Bulkhead did not send
// it, and faults do not raise it (IsRequestToEnd). If a worker was late because
// another process had stopped it, its death is a kill, too. Most kills are
// SIGKILLs of the kernel's OOM killer, which look like an operator's. Kills
// have a low limit of their own: each further worker would take as much memory,
// and the kernel would kill again, perhaps another program.
//
// Owned by WorkerRecovery. Not thread-safe.
class DeathAccount {
 public:
  explicit DeathAccount(const Limits& limits)
      : attempts_(limits.attempts_per_position),
        restarts_(limits.restarts_per_position),
        kills_allowed_(limits.kills_per_position) {}

  // Records that the caller now waits for the frame or sample with this number.
  void Want(uint64_t frame);

  // Returns the number of the present attempt; the first is 1.
  uint32_t attempt() const { return blamed_ + innocent_ + 1; }

  // The error that ends the attempts. `reason` is appended to the message about
  // the death ("given up after 3 attempts, ..."); it may be empty.
  struct GivenUp {
    Code code;
    std::string reason;
  };
  // Counts a death at the position `at`, and clears `at.ahead`. `death` is the
  // code of the error that the step got, `verdict` bulkheadd's verdict.
  // `overdue` says whether the application's call has used up its time
  // (WorkerRecovery::BeginCall()). Returns nullopt if another worker must
  // repeat the step.
  std::optional<GivenUp> Count(Awaited& at, Code death,
                               const supervisor_link::ExitVerdict& verdict,
                               bool overdue = false);

  // Returns whether any death since the last progress was blamed. The input is
  // acquitted if a frame is delivered in spite of such deaths.
  bool blamed() const { return blamed_ > 0; }
  // Records that a frame was delivered. Earlier deaths no longer count.
  void Progressed();

 private:
  const uint32_t attempts_;
  const uint32_t restarts_;
  const uint32_t kills_allowed_;
  // The frame that a worker was decoding ahead when it died of a blamed death.
  // Want() counts the death once more when the caller waits for this frame.
  std::optional<uint64_t> blamed_ahead_;
  uint32_t blamed_ = 0;
  uint32_t innocent_ = 0;
  uint32_t kills_ = 0;  // counted in innocent_, too
};

}  // namespace bulkhead::session
