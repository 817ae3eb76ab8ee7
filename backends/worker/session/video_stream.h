// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/worker/media/convert/delivery.h"
#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/picture_reader.h"
#include "backends/worker/media/decode/side_thread.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/picture_facts.h"
#include "backends/worker/session/stream.h"
#include "ipc/damage_sign.h"

namespace bulkhead::worker {

// Serves one video stream: decodes pictures, and puts them, converted to RGB or
// as they are, into slots that the host has granted. Between two requests the
// stream decodes ahead into free slots, so that decoding overlaps with the
// application's work.
//
// Where the host allows it and another processor is there, a thread beside the
// session's converts and publishes a picture while the next one is decoded. A
// fault of the session's thread waits for that (crash_note.h). A process that
// is killed may leave a picture unpublished although it died over the next one;
// the host learns that from RegionHeader::decoded.
class VideoStream : public Stream {
 public:
  // Opens the stream and its decoder, and replies with `opened`.
  static ipc::Expected<std::unique_ptr<Stream>> Open(
      const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> Scan() override;
  void AttachPool(std::shared_ptr<SlotPool> pool) override;
  void Grant(uint32_t slot, uint32_t generation) override;
  ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) override;
  bool playing() const override { return play_.active && delivery_; }
  ipc::Expected<bool> Advance() override;
  uint32_t AbandonPlay() override;

 private:
  struct Play {
    uint32_t epoch = 0;
    bool active = false;
    int64_t skip_before = 0;
    uint64_t frames_left = 0;
    bool overlaps = false;
    bool has_shown = false;
  };

  // Facts about a picture that its reply needs. They are copied, because
  // delivery gives the decoder's frame back.
  struct Picture {
    uint32_t epoch;
    int64_t pts;
    int64_t duration;
    int64_t position;
    uint32_t check;
    bool keyframe;
    bool damaged;
    ipc::DamageSign sign;
    PictureFacts facts;
  };
  // A picture that has a slot and is yet to be published.
  struct Begun {
    Picture picture;
    PlacedFrame placed;
  };
  // A frame that the host gets no picture of, because the frame was lost or
  // lies before the first frame that the play asks for.
  struct Unseen {
    ipc::schema::UnseenFrame::Fate fate;
    Loss frame;
  };

  VideoStream(const StreamContext& context, ipc::schema::Open::Reader open);

  // Adds to an error for a breach of the C ABI how far the decoder got.
  template <typename T>
  ipc::Expected<T> Located(ipc::Expected<T> result) const;
  ipc::Expected<void> OpenInput(ipc::schema::Open::Reader open);
  void MakeDelivery();
  ipc::Expected<void> Describe(const OutputShape& shape);
  // Returns the aspect ratio of the pixels of frames of this shape.
  bulkhead_rational AspectRatio(const OutputShape& shape) const;
  // Decodes up to the next picture. Returns false at the end of the stream.
  // Fails with kUnsupported once pictures would depend on the number of threads
  // and there is more than one; DecoderOpening looks at the first packet only.
  ipc::Expected<bool> NextPicture();
  // Does one step of Advance().
  ipc::Expected<bool> PlayOn();
  // Reports the unseen frames so far, then publishes the reader's picture, or
  // begins to. Returns false if no slot is free.
  ipc::Expected<bool> Show();
  // Returns once no other thread is at work for the stream. Call it before
  // anything is sent, and before anything but decoding. Returns the error of
  // publishing the picture that was begun, if there was one.
  ipc::Expected<void> Settle();
  void NoteLosses();
  ipc::Expected<void> SendUnseen();
  // Sends the reply that ends a play. Returns true.
  ipc::Expected<bool> Answer(
      const std::function<void(ipc::schema::Reply::Builder)>& fill);
  // Asks the host for larger slots if the picture has outgrown them, or for
  // another slot, once for each grant, if the host may take those that the
  // decoder refers to for free. Returns false.
  ipc::Expected<bool> Stall();
  ipc::Expected<void> AskForPool();
  // Both convert and publish a picture, on either thread. PublishBegun() leaves
  // the result in published_.
  void PublishBegun();
  ipc::Expected<void> Publish(const Begun& begun);

  const StreamContext context_;
  DecoderOpening opening_;
  const std::string name_hint_;
  const int64_t media_bytes_;
  const uint64_t max_frame_pixels_;
  const DemuxerLimits limits_;
  const OutputFormat output_;

  std::unique_ptr<PictureReader> reader_;
  std::unique_ptr<OutputConverter> converter_;
  std::vector<Unseen> unseen_;  // not reported to the host yet
  std::string complaint_;       // what the backend said of the lost ones
  Play play_;
  const bool may_overlap_;
  uint32_t grants_ = 0;                 // that were taken so far
  std::optional<uint32_t> stalled_at_;  // the grants when it asked for more
  bool awaits_pool_ = false;            // it asked for larger slots

  std::shared_ptr<SlotPool> pool_;
  // Destroyed before the reader: it may hold frames of the decoder.
  std::unique_ptr<FrameDelivery> delivery_;
  // Both belong to side_ from its Begin() to its Finish().
  std::optional<Begun> begun_;
  ipc::Expected<void> published_;
  // The last member, so destroyed first: its task uses the others.
  SideThread side_;
};

}  // namespace bulkhead::worker
