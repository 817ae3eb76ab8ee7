// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/held_pictures.h"
#include "backends/worker/media/decode/packet_trail.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/damage_sign.h"
#include "ipc/error.h"
#include "ipc/loss.h"

namespace bulkhead::worker::decode {

// Reads the pictures of one video stream in display order, and reports which
// frames were lost between them.
//
//     auto reader = *PictureReader::Open(demuxer, open_decoder, on_replace);
//     while (*reader->Next()) {
//       for (const Loss& loss : reader->TakeLosses()) Report(loss);
//       Use(reader->picture());
//       reader->Pass();
//     }
//
// Damage is not a failure: a frame that cannot be decoded is a loss, and a
// picture that refers to a lost one is damaged. HeldPictures decides which. An
// irregularity that costs no picture is reported as a loss with the sign of a
// note (ipc/damage_sign.h).
//
// A seek opens a new decoder in three cases, since state of the old decoder
// could show in later pictures:
//   - the seek goes to the beginning;
//   - there was damage;
//   - a flush is not enough before the packet (AccessPoints::FlushSufficesFor).
// Before a decoder is closed, `on_replace` is called, in which the caller must
// destroy its frames of that decoder.
//
// Used by one thread. Fails as Demuxer and Decoder do.
class PictureReader {
 public:
  using OpenDecoder = std::function<ipc::Expected<std::unique_ptr<Decoder>>()>;

  // `demuxer` must be at the beginning.
  static ipc::Expected<std::unique_ptr<PictureReader>> Open(
      std::unique_ptr<demux::Demuxer> demuxer, OpenDecoder open_decoder,
      std::function<void()> on_replace);

  const demux::Demuxer& demuxer() const { return *demuxer_; }
  // Returns whether the next picture is the first one, and no loss before that
  // picture has been reported.
  bool at_beginning() const { return at_beginning_; }

  ipc::Expected<void> SeekToBeginning();
  // Seeks to a keyframe at or before `timestamp`, or to the beginning if there
  // is no such keyframe or the stream cannot seek.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);
  // Seeks to the packet with this mark, or to the beginning if that very packet
  // is not found.
  ipc::Expected<void> SeekToPacket(const demux::PacketMark& mark);

  // Lends the demuxer's file for reading the whole stream. Returns null if this
  // reader might then read different packets later (Demuxer::Lend). Until
  // TakeBack, nothing else may be called.
  std::unique_ptr<demux::Demuxer> Lend();
  void TakeBack(std::unique_ptr<demux::Demuxer> borrower) {
    demuxer_->TakeBack(std::move(borrower));
  }

  // Decodes until there is a current picture. Returns false at the end of the
  // stream. Does nothing if Pass() was not called since the last picture.
  ipc::Expected<bool> Next();
  bool has_picture() const { return picture_.has_value(); }
  // The next five functions may be called only if there is a current picture.
  DecodedFrame& picture() { return picture_->frame; }
  const DecodedFrame& picture() const { return picture_->frame; }
  bool damaged() const { return sign() != ipc::DamageSign::kUnknown; }
  ipc::DamageSign sign() const { return picture_->sign; }
  int64_t position() const { return picture_->position; }
  // Returns the check of the picture's packet (PacketMark) if the packet is a
  // known point of access, or 0 if it is not.
  uint32_t access_check() const;
  // Returns whether a packet that was read since the decoder was opened makes
  // the pictures depend on the number of the decoder's threads.
  bool depends_on_threads() const { return points_.depends_on_threads(); }
  // Returns whether a packet was sent since the decoder was opened.
  bool begun() const { return pictures_.packets() > 0; }
  // Returns how far the decoder got, for the message about a failure: "after 3
  // packets, the last with timestamp 1024, byte 48 of the file".
  std::string Progress() const;
  // Gives the current picture back to the decoder, so that Next() decodes
  // another one.
  void Pass();

  // Returns the losses before the current picture; at the end of the stream,
  // the losses after the last picture. Returns each loss only once.
  std::vector<ipc::Loss> TakeLosses();
  // Returns the backend's last sentence about damage, and forgets it.
  std::string TakeComplaint() { return decoder_->TakeComplaint(); }

 private:
  PictureReader(std::unique_ptr<demux::Demuxer> demuxer,
                OpenDecoder open_decoder, std::function<void()> on_replace);

  // Makes the decoder ready for the packet to which a seek of the demuxer went.
  // `sought` is the seek's result. `at_point` says whether the packet is a
  // point of access.
  ipc::Expected<void> Enter(const ipc::Expected<void>& sought, bool at_point);
  // Opens a new decoder in place of the old one, for the first packet.
  ipc::Expected<void> ReplaceDecoder();
  // Drops all pictures, losses and packets that wait.
  void Forget();
  // Reads the next packet to send, and records it for all checks.
  ipc::Expected<void> ReadPacket();

  const std::unique_ptr<demux::Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  const std::function<void()> on_replace_;
  std::unique_ptr<Decoder> decoder_;
  demux::AccessPoints points_;
  // Decoding has begun at the first packet or at a point of access, so points_
  // answers correctly.
  bool knows_points_ = true;
  // The latest packets at which decoding may begin, in decoding order.
  std::deque<demux::PacketMark> marks_;
  PacketTrail trail_;
  bool at_beginning_ = true;
  bool packets_ended_ = false;
  bool packet_pending_ = false;  // the packet read last must still be sent
  // The last members, so destroyed first, which gives their frames back to the
  // decoder.
  HeldPictures pictures_;
  std::optional<HeldPictures::Picture> picture_;
};

}  // namespace bulkhead::worker::decode
