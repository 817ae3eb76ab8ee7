// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/discovery/manifest.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// The stream that a health check has a worker decode: the first picture of the
// built-in clip, or the first samples of the built-in sound for a backend that
// decodes audio alone. Builds the requests to the worker and judges the
// replies; sends nothing and waits for nothing.
//
// Trust: the replies come from a hostile worker. Each judgement is OK, an
// error, or nullopt if the reply is of another kind than the awaited one.
// Readers must be over private memory; call inside ipc::ReadCatching.
class BuiltInStream {
 public:
  explicit BuiltInStream(discovery::StreamKind kind)
      : audio_(kind == discovery::StreamKind::kAudio) {}

  // Returns a memfd with the media, which nobody can change.
  Result<ipc::UniqueFd> MakeMedia() const;
  session::StreamOpening Opening(uint32_t device) const;
  // Returns memory for two slots of the stream.
  Result<std::shared_ptr<session::FramePool>> MakePool() const;
  // Fills in a request for the first picture or for all samples. `epoch` is the
  // number of the play.
  void FillPlay(uint32_t epoch, ipc::schema::Play::Builder play) const;

  std::optional<Status> JudgeOpened(
      ipc::schema::Reply::Reader reply_untrusted) const;
  std::optional<Status> JudgeOutput(
      ipc::schema::Reply::Reader reply_untrusted,
      const std::shared_ptr<session::FramePool>& pool) const;

 private:
  bool audio_;
  Limits limits_;
};

// Returns kBackendMisbehaved. `what` says how the worker broke the protocol.
Status Misbehaved(const std::string& what);

}  // namespace bulkhead::supervisor
