// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/health/known_clip.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/published_output.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::health {

// The stream that a health check has a worker decode: the first pictures of a
// clip, or the first samples of the built-in sound. Builds the requests to the
// worker and judges the replies; sends nothing and waits for nothing.
//
// Trust: the replies come from a hostile worker. Each judgement is OK, an
// error, or nullopt if the reply is of another kind than the awaited one.
// Readers must be over private memory; call inside ipc::ReadCatching. A worker
// can change the pixels while they are hashed, and then gets the hash of some
// mixture.
class ClipStream {
 public:
  // The most pixels of a picture: 1920x1088.
  static constexpr uint64_t kMaxPixels = uint64_t{1920} * 1088;

  // `clip` must outlive this object.
  explicit ClipStream(const KnownClip& clip);

  // Returns a memfd with the media, which nobody can change.
  Result<ipc::UniqueFd> MakeMedia() const;
  worker_protocol::StreamOpening Opening(uint32_t device) const;
  // Returns memory for two slots of the stream. Call it after JudgeOpened().
  Result<std::shared_ptr<worker_protocol::FramePool>> MakePool() const;
  // Fills in a request for the pictures or for all samples. `epoch` is the
  // number of the play.
  void FillPlay(uint32_t epoch, ipc::schema::Play::Builder play) const;

  std::optional<Status> JudgeOpened(ipc::schema::Reply::Reader reply_untrusted);
  // Compares the next picture.
  std::optional<Status> JudgeOutput(
      ipc::schema::Reply::Reader reply_untrusted,
      const std::shared_ptr<worker_protocol::FramePool>& pool);
  // Returns whether everything was judged.
  bool finished() const { return judged_ == expected(); }

 private:
  bool audio() const { return clip_.picture_md5s.empty(); }
  size_t expected() const { return audio() ? 1 : clip_.picture_md5s.size(); }
  Status JudgePicture(ipc::schema::PublishedFrame::Reader frame_untrusted,
                      const std::shared_ptr<worker_protocol::FramePool>& pool);

  const KnownClip& clip_;
  const Limits limits_;
  worker_protocol::PictureShape shape_;
  size_t judged_ = 0;  // pictures, or blocks of samples
};

}  // namespace bulkhead::health
