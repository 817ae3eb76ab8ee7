// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host.h"
#include "core/input_position.h"
#include "core/session/frame_index.h"
#include "core/session/frame_pool.h"
#include "core/session/session_end.h"
#include "core/session/session_states.h"
#include "core/session/supervisor_link.h"
#include "core/session/worker_link.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// One open video stream, across any number of workers: the reason why a caller
// does not notice that one died.
//
// It keeps what a worker must never be trusted to keep: the source, the
// options, the index, the frames' memory, and for each frame that Next()
// delivered its timestamp and fingerprint. A new worker seeks to the keyframe
// before the last delivered frame and decodes on; the frames that were already
// delivered come again, are compared with the record and dropped, and what
// follows is what the caller is owed. Where the record does not match (streams
// that do not seek exactly, timestamps that repeat), it decodes from the
// beginning instead, which always does.
//
// What happens when is the table of session_states.h. bulkheadd says whether
// anybody is to blame for a death (core/supervisor/worker_blame.h), and
// remembers at which positions an input has killed workers; there it is refused
// at once. A delivered frame resets both counts and acquits the input. Each
// worker after the first serves this session alone, so that a second death
// tells whose fault it is.
//
// Not thread-safe, like the VideoDecoder that owns it.
class VideoSession {
 public:
  static Result<std::unique_ptr<VideoSession>> Open(
      std::shared_ptr<SupervisorLink> supervisor, const std::string& path,
      VideoOptions options, const Limits& limits);

  const VideoMetadata& metadata() const { return metadata_; }
  const RecoveryStats& recovery() const { return recovery_; }
  int worker_pid() const { return link_ ? link_->pid() : 0; }
  // Not OK in a fork() of the process that opened it.
  Status CheckProcess() const { return supervisor_->CheckProcess(); }

  Result<std::optional<Frame>> Next();
  void Rewind();
  Result<uint64_t> FrameCount();
  Result<Frame> FrameAt(int64_t index);
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices);
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step);

 private:
  // What the worker's current play is for.
  enum class Mode {
    kIdle,        // nothing, or something that is not known any more
    kSequential,  // the frames of Next(), from next_ on
    kIndexed,     // FrameAt by timestamp; the last one was position_
    kCounted,     // FrameAt by counting from the beginning; next is position_
  };
  struct Stamp {
    int64_t pts;
    uint64_t fingerprint;
  };

  // The deaths since the caller's step began.
  struct Episode {
    std::chrono::steady_clock::time_point began;
    ExitReport last;
    uint32_t deaths = 0;
    std::vector<uint64_t> crashes;  // those of them that are recorded
  };

  VideoSession(std::shared_ptr<SupervisorLink> supervisor, std::string path,
               ipc::UniqueFd media, const struct stat& file,
               VideoOptions options, const Limits& limits);

  // Does `step`, for which the caller asked by `asked`, with workers until one
  // lives through it.
  template <typename Step>
  auto WithRecovery(SessionEvent asked, const Step& step) -> decltype(step());
  void Raise(SessionEvent event) { state_ = session::Next(state_, event).next; }
  Status EnsureWorker();
  Status StartWorker();
  Status OpenStream(const Source& media);
  // Not OK where the input is known to kill workers.
  Status CheckPoisoned() const;
  // OK: try again.
  Status AccountDeath(const Status& death);
  // What came of the deaths during a step, if there were any.
  void Recovered();
  void EndEpisode(const std::string& outcome);
  // For the record of a worker's end.
  SeenEnd DescribeStep() const;
  // `death` with what is known of it, if there is no further attempt.
  Status GiveUp(const Status& death, ExitReport report, uint32_t deaths_here,
                bool met_media) const;
  void Acquit();
  void Progressed();

  Status ResumeSequential();
  // Drops delivered frames until the record ends; false: they differ.
  Result<bool> DropDelivered(size_t first);
  Status EnsureIndex();
  Result<Frame> Fetch(uint64_t index);
  Result<Frame> FetchIndexed(uint64_t index);
  Result<Frame> FetchCounted(uint64_t index);
  Status UndecodableError(uint64_t index) const;
  Result<FrameBatch> FetchBatch(std::span<const uint64_t> indices);

  Frame MakeFrame(PublishedFrame&& published, uint64_t index) const;
  Source source() const;
  InputPosition position() const;
  std::string PositionText() const;

  // Constant after Open.
  const std::shared_ptr<SupervisorLink> supervisor_;
  SessionCounting::Lease counter_;
  const std::string path_;
  const ipc::UniqueFd media_;
  const int64_t bytes_;
  const std::string input_;  // as bulkheadd knows it
  const Crash::Input file_;
  const VideoOptions options_;
  const Limits limits_;
  VideoMetadata metadata_;
  std::shared_ptr<const std::string> device_;

  SessionState state_ = SessionState::kOpening;
  std::unique_ptr<WorkerLink> link_;  // null: none was started yet, or it died
  std::shared_ptr<FramePool> pool_;
  Mode mode_ = Mode::kIdle;
  uint64_t position_ = 0;
  uint64_t wanted_ = 0;  // the frame that the caller waits for
  uint64_t window_ = 1;  // frames decoded ahead of FrameAt, doubled when used
  uint32_t incarnation_ = 0;
  uint32_t blamed_deaths_ = 0;
  uint32_t innocent_deaths_ = 0;
  RecoveryStats recovery_;
  SessionEvent asked_ = SessionEvent::kOpened;  // what the caller waits for
  std::optional<Episode> episode_;

  std::vector<Stamp> delivered_;  // by Next(), since the last Rewind
  bool delivered_ascend_ = true;
  bool ended_ = false;

  std::optional<FrameIndex> index_;
  bool index_matches_ = false;  // some frame had the timestamp it promised
  bool count_frames_ = false;   // timestamps turned out to mean nothing
};

}  // namespace bulkhead::session
