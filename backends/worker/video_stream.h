// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/worker/media/decoder.h"
#include "backends/worker/media/delivery.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/output_converter.h"
#include "backends/worker/media/outstanding_packets.h"
#include "backends/worker/media/packet_inspector.h"
#include "backends/worker/stream.h"

namespace bulkhead::worker {

// One video stream: demuxes, decodes through the backend, and converts to RGB
// into granted slots. Between two requests it decodes ahead into free slots, so
// that decoding overlaps with consuming.
class VideoStream : public Stream {
 public:
  // Opens the stream and the decoder, answers `opened`.
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
  };

  // What is left of a picture that was given to the host.
  struct Picture {
    int64_t pts;
    int64_t duration;
    int64_t position;
    bool keyframe;
    bool damaged;
  };
  struct Unseen {
    ipc::schema::UnseenFrame::Fate fate;
    Loss frame;
  };

  VideoStream(const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> OpenInput(ipc::schema::Open::Reader open);
  ipc::Expected<void> OpenDecoder();
  void ForgetFrame();
  void MakeDelivery();
  ipc::Expected<void> SeekToBeginning();
  ipc::Expected<void> Describe(const OutputShape& shape);
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);
  // Decodes until frame_ holds the next picture; false at the end.
  ipc::Expected<bool> DecodeNext();
  ipc::Expected<void> ReadPacket();
  void NoteLosses(const std::vector<Loss>& losses);
  ipc::Expected<void> SendUnseen();
  // Sends what ends a step; true.
  ipc::Expected<bool> Answer(
      const std::function<void(ipc::schema::Reply::Builder)>& fill);
  ipc::Expected<void> Publish(const DeliveredFrame& delivered,
                              const Picture& picture);

  const StreamContext context_;
  const std::string name_hint_;
  const int64_t media_bytes_;
  const uint32_t device_;
  const uint32_t threads_;
  const uint32_t incarnation_;
  const uint64_t max_frame_pixels_;
  const bool ignore_errors_;
  const OutputFormat output_;
  std::vector<std::pair<std::string, std::string>> options_;

  std::unique_ptr<Demuxer> demuxer_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<OutputConverter> converter_;
  uint32_t stride_ = 0;

  DecodedFrame frame_;         // decoded, not yet published
  bool frame_is_new_ = false;  // frame_ is the next one
  bool at_beginning_ = true;   // nothing but frame_ was decoded
  bool packets_ended_ = false;
  bool packet_pending_ = false;
  bool met_damage_ = false;      // since the decoder was opened
  int64_t frame_position_ = -1;  // of the packet of frame_
  std::unique_ptr<PacketInspector> inspector_;
  OutstandingPackets outstanding_;
  std::vector<Unseen> unseen_;  // not yet told of
  Play play_;

  std::shared_ptr<SlotPool> pool_;
  // Last: it may hold frames of the decoder.
  std::unique_ptr<FrameDelivery> delivery_;
};

}  // namespace bulkhead::worker
