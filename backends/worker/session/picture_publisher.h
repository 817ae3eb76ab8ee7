// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/worker/media/convert/delivery.h"
#include "backends/worker/media/decode/side_thread.h"
#include "backends/worker/session/host_replies.h"
#include "backends/worker/session/picture_facts.h"
#include "ipc/damage_sign.h"
#include "ipc/error.h"

namespace bulkhead::worker::session {

// Publishes pictures that have a slot: converts each into its slot and sends
// the host a `frame` reply. One picture is in work at a time.
//
//     publisher.Begin(picture, placed, delivery, /*beside=*/true);
//     DecodeNext();              // meanwhile
//     publisher.Settle();        // the picture was published
//
// If asked to, converts and sends on a second thread, while the session's
// thread decodes the next picture. If that decoding faults, the fault's handler
// waits for the second thread (crash_note.h). If the process is killed while it
// decodes picture n + 1, picture n may stay unpublished. RegionHeader::decoded
// shows the host that picture n was decoded.
//
// Used by the session's thread. Must be destroyed before the decoder and the
// delivery, since it may hold a frame of the decoder.
class PicturePublisher {
 public:
  // The facts about a picture that its reply needs. They are copied, because
  // the decoder gets its frame back before the reply is sent.
  struct Picture {
    uint32_t epoch;  // the number of the play
    int64_t pts;
    int64_t duration;
    int64_t position;  // byte offset of the packet in the file, or -1
    uint32_t check;    // PictureReader::access_check()
    bool keyframe;
    bool damaged;
    ipc::DamageSign sign;
    std::optional<PictureFacts> facts;  // of native pictures
    // The format of the picture, if each picture of the stream has its own.
    std::string pixel_format = {};
  };

  // Borrows `replies`.
  explicit PicturePublisher(HostReplies& replies)
      : replies_(replies), side_([this] { PublishBegun(); }) {}

  // Publishes a picture, or with `beside` begins to publish it on the second
  // thread. The previous picture must be settled. Borrows `delivery` until
  // Settle().
  void Begin(Picture picture, convert::PlacedFrame placed,
             convert::FrameDelivery& delivery, bool beside);
  // Waits until the second thread is idle. While it publishes, the session's
  // thread may only decode: call this before anything else, such as another
  // reply. Fails if the picture of Begin() could not be published.
  ipc::Expected<void> Settle();

 private:
  struct Begun {
    Picture picture;
    convert::PlacedFrame placed;
    convert::FrameDelivery& delivery;
  };

  // These two run on the session's or the second thread. PublishBegun() stores
  // its result in published_.
  void PublishBegun();
  ipc::Expected<void> Publish(const Begun& begun);

  HostReplies& replies_;
  // From side_.Begin() to side_.Finish(), only side_'s task uses these two.
  std::optional<Begun> begun_;
  ipc::Expected<void> published_;
  // The last member, so destroyed first: its task uses the others.
  decode::SideThread side_;
};

}  // namespace bulkhead::worker::session
