// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/worker/media/damage/outstanding_packets.h"
#include "backends/worker/media/decode/picture_reader.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Collects the frames of which the host gets no picture, and sends them to the
// host: lost frames, and skipped frames, which lie before the first frame that
// a play (stream.h) asks for. Notes (ipc/damage_sign.h) are sent in the same
// list. The host counts frames by their order, so Send() must come before the
// next picture. Used by the session's thread.
class UnseenFrames {
 public:
  // Borrows `replies`.
  explicit UnseenFrames(HostReplies& replies) : replies_(replies) {}

  // Drops the frames that were not sent. Called at a seek.
  void Clear();
  // Adds the losses that `reader` has met since the last call.
  void AddLosses(decode::PictureReader& reader);
  // Adds the current picture of `reader` as a skipped frame.
  void AddSkipped(const decode::PictureReader& reader);
  // Returns whether enough frames wait to fill one message.
  bool fill_a_message() const;
  // Sends and forgets all frames. If reading the file has stopped with an
  // error, also sends the text of the error, which `reader` has.
  ipc::Expected<void> Send(uint32_t epoch, const decode::PictureReader& reader);

 private:
  struct Unseen {
    ipc::schema::UnseenFrame::Fate fate;
    ipc::Loss frame;
  };

  HostReplies& replies_;
  std::vector<Unseen> unseen_;
  std::string complaint_;  // the backend's last sentence about lost frames
};

}  // namespace bulkhead::worker::session
