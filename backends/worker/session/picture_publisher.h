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

// Publishes pictures that have a slot, one at a time: converts the picture into
// its slot and sends the host a `frame` reply.
//
//     publisher.Begin(picture, placed, delivery, /*beside=*/true);
//     DecodeNext();              // meanwhile
//     publisher.Settle();        // the picture was published
//
// With `beside`, converts and sends on a second thread, while the session's
// thread decodes the next picture. If decoding the next picture faults, the
// handler of the fault waits for the second thread (crash_note.h). If the
// process is killed meanwhile, the picture may stay unpublished, but
// RegionHeader::decoded shows the host that the picture was decoded.
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
    uint32_t check;    // a hash of the packet; PictureReader::access_check()
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

  // Both functions run on the session's thread or, with `beside`, on the second
  // thread. PublishBegun() stores the result of Publish() in published_.
  void PublishBegun();
  ipc::Expected<void> Publish(const Begun& begun);

  HostReplies& replies_;
  // From side_.Begin() to side_.Finish(), only the second thread uses begun_
  // and published_.
  std::optional<Begun> begun_;
  ipc::Expected<void> published_;
  // The last member, so that it is destroyed first: its task, which runs on the
  // second thread, uses the other members.
  decode::SideThread side_;
};

}  // namespace bulkhead::worker::session
