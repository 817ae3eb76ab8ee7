// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/worker/media/convert/delivery.h"
#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/picture_reader.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/picture_publisher.h"
#include "backends/worker/session/stream.h"
#include "backends/worker/session/unseen_frames.h"

namespace bulkhead::worker::session {

// Serves one video stream: decodes pictures, and puts them, converted to RGB or
// as they are, into slots that the host has granted. Between two requests the
// stream decodes ahead into free slots, so that decoding overlaps with the
// application's work. If the host allows it and there is a second processor,
// a picture can be published while the next one is decoded (PicturePublisher).
class VideoStream : public Stream {
 public:
  // Opens the stream and its decoder, and replies with `opened`.
  static ipc::Expected<std::unique_ptr<Stream>> Open(
      const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> Scan() override;
  void AttachPool(std::shared_ptr<decode::SlotPool> pool) override;
  void Grant(uint32_t slot, uint32_t generation) override;
  ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) override;
  bool playing() const override { return play_.active && delivery_; }
  ipc::Expected<bool> Advance() override;
  uint32_t AbandonPlay() override;

 private:
  struct Play {
    uint32_t epoch = 0;
    bool active = false;
    int64_t skip_before = 0;   // frames with a lower timestamp are skipped
    uint64_t frames_left = 0;  // frames to show
    bool overlaps = false;     // the host allows publishing beside decoding
    bool has_shown = false;    // this play has shown a picture
  };

  VideoStream(const StreamContext& context, ipc::schema::Open::Reader open);

  // Returns `result`. Adds to the message of an error how far decoding got.
  template <typename T>
  ipc::Expected<T> Located(ipc::Expected<T> result) const;
  // Opens the demuxer and the decoder, finds the size of the first picture,
  // and sends `opened`.
  ipc::Expected<void> OpenInput(ipc::schema::Open::Reader open);
  // Makes delivery_ if there is a pool.
  void MakeDelivery();
  // Sends the reply `opened`.
  ipc::Expected<void> Describe();
  // Decodes up to the next picture. Returns false at the end of the stream.
  // Fails with kUnsupported if the decoder has several threads and a later
  // packet shows that the pictures depend on their number. DecoderOpening has
  // checked the first packet.
  ipc::Expected<bool> NextPicture();
  // Does the work of Advance().
  ipc::Expected<bool> PlayOn();
  // Sends the unseen frames, then publishes the reader's picture, or begins to
  // publish it. Returns false if no slot is free.
  ipc::Expected<bool> Show();
  // Sends a reply that `fill` fills in. Returns true.
  ipc::Expected<bool> Answer(
      const std::function<void(ipc::schema::Reply::Builder)>& fill);
  // Handles a picture that got no slot. Returns false.
  // - If the picture is larger than a slot, asks the host for larger slots.
  // - If the decoder still uses a granted slot (native pictures), the slot is
  //   not free, as the host believes. Asks for another slot, at most once
  //   until the next grant.
  ipc::Expected<bool> Stall();
  // Asks the host for larger slots. Does nothing if it has asked already since
  // the last AttachPool() or StartPlay().
  ipc::Expected<void> AskForPool();

  const StreamContext context_;
  DecoderOpening opening_;
  const std::string name_hint_;
  const int64_t media_bytes_;
  const uint64_t max_frame_pixels_;
  const demux::DemuxerLimits limits_;
  const convert::OutputFormat output_;

  std::unique_ptr<decode::PictureReader> reader_;
  std::unique_ptr<convert::OutputConverter> converter_;
  Play play_;
  const bool may_overlap_;  // pictures may be published beside decoding
  UnseenFrames unseen_;
  uint32_t grants_ = 0;                 // the number of grants so far
  std::optional<uint32_t> stalled_at_;  // grants_ when a slot was asked for
  bool awaits_pool_ = false;            // larger slots were asked for

  std::shared_ptr<decode::SlotPool> pool_;
  // Must be destroyed before reader_, since it may hold frames of the decoder.
  std::unique_ptr<convert::FrameDelivery> delivery_;
  // Must be destroyed before delivery_, which it uses.
  PicturePublisher publisher_;
};

}  // namespace bulkhead::worker::session
