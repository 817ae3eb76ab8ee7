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
// Trust: the replies come from a hostile worker. JudgeOpened() and
// JudgeOutput() return OK, a failure of the backend, or nullopt if the reply is
// of a kind that they do not judge. Pass readers over private memory, inside
// ipc::ReadCatching. If a worker changes pixels while they are hashed, the hash
// is that of a mixture.
class ClipStream {
 public:
  // The most pixels that a picture may have: 1920x1088.
  static constexpr uint64_t kMaxPixels = uint64_t{1920} * 1088;

  // `clip` must outlive this object.
  explicit ClipStream(const KnownClip& clip);

  // Returns a memfd with the clip's file, sealed so that nobody can change it.
  Result<ipc::UniqueFd> MakeMedia() const;
  // Returns the request to open the stream on the device with that ordinal.
  worker_protocol::StreamOpening Opening(uint32_t device) const;
  // Returns memory for two slots of the stream. Call it after JudgeOpened().
  Result<std::shared_ptr<worker_protocol::FramePool>> MakePool() const;
  // Fills in the request to decode the pictures, or all samples. `epoch` is a
  // number for this pass.
  void FillPlay(uint32_t epoch, ipc::schema::Play::Builder play) const;

  // Judges the answer to the opening, and keeps the shape of the pictures.
  std::optional<Status> JudgeOpened(ipc::schema::Reply::Reader reply_untrusted);
  // Judges the next picture by its MD5, or the samples by their silence.
  std::optional<Status> JudgeOutput(
      ipc::schema::Reply::Reader reply_untrusted,
      const std::shared_ptr<worker_protocol::FramePool>& pool);
  // Returns whether everything was judged.
  bool finished() const { return judged_ == expected(); }

 private:
  bool audio() const { return clip_.picture_md5s.empty(); }
  // The number of pictures to judge; for sound, one block of samples.
  size_t expected() const { return audio() ? 1 : clip_.picture_md5s.size(); }
  Status JudgePicture(ipc::schema::PublishedFrame::Reader frame_untrusted,
                      const std::shared_ptr<worker_protocol::FramePool>& pool);

  const KnownClip& clip_;
  const Limits limits_;
  worker_protocol::PictureShape shape_;  // set by JudgeOpened()
  size_t judged_ = 0;                    // pictures, or blocks of samples
};

}  // namespace bulkhead::health
