// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/worker/media/damage/outstanding_packets.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/damage/reference_chain.h"
#include "backends/worker/media/damage/timestamp_gaps.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/packet_trail.h"
#include "backends/worker/media/decode/pass_check.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/damage_sign.h"
#include "ipc/error.h"

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
// picture that refers to a lost one is damaged (reference_chain.h). After an
// error, pictures are held back until it is known which of them the error
// affects. An irregularity that costs no picture is reported as a loss with the
// sign of a note (ipc/damage_sign.h).
//
// A seek opens a new decoder in three cases, since state of the old decoder
// could show in later pictures:
//   - the seek goes to the beginning;
//   - there was damage;
//   - a flush is not enough before the packet (AccessPoints::FlushSufficesFor).
// Before a decoder is closed, `on_replace` is called, in which the caller must
// destroy its frames of that decoder.
//
// Each packet shows at most one picture, as in the index. Three kinds of
// pictures are left out: a second picture with the timestamp of the same
// packet, the picture of a packet that must not be output, and the picture of a
// packet that was reported as lost. Pictures that do not fit the packets are a
// breach of the ABI (PassCheck). One such breach is a picture that comes out
// after a later one: it seems lost until it comes. So if nothing else shows
// damage, the first loss is held back until the decoder's next picture has come
// and PassCheck has seen whether that is the lost one.
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
  bool has_picture() const { return has_picture_; }
  DecodedFrame& picture() { return picture_; }
  const DecodedFrame& picture() const { return picture_; }
  // Returns whether the decoder made up parts of the picture, or of a picture
  // that it refers to.
  bool damaged() const { return damaged_; }
  // Returns what has shown that the picture is damaged.
  ipc::DamageSign sign() const { return sign_; }
  // Returns the byte offset of the picture's packet in the file, or -1.
  int64_t position() const { return position_; }
  // Returns the check of the picture's packet (PacketMark) if the packet is a
  // known point of access, or 0 if it is not.
  uint32_t access_check() const;
  // Returns whether a packet that was read since the decoder was opened makes
  // the pictures depend on the number of the decoder's threads.
  bool depends_on_threads() const { return points_.depends_on_threads(); }
  // Returns whether a packet was sent since the decoder was opened.
  bool begun() const { return check_.packets() > 0; }
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
  // Gives losses their signs, and adds them to later_losses_.
  void AddLosses(std::vector<ipc::Loss> losses);
  // A picture that waits until it becomes the current one.
  struct Held {
    DecodedFrame frame;
    int64_t position;
    std::vector<ipc::Loss> losses;  // before the picture
  };
  // Checks a picture that came out of the decoder, and adds it to held_.
  ipc::Expected<void> Take(DecodedFrame frame);
  // Makes the first of the held pictures the current one if it is known whether
  // that picture is damaged. Returns whether there is a current picture now.
  bool Release();
  // Records that the decoder reported damage.
  void Rejected();
  // Records that the decoder has given its last picture.
  ipc::Expected<void> End();
  PassCheck::Damage DamageSoFar() const;

  const std::unique_ptr<demux::Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  const std::function<void()> on_replace_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<damage::PacketInspector> inspector_;
  demux::AccessPoints points_;
  // Decoding has begun at the first packet or at a point of access, so points_
  // answers correctly.
  bool knows_points_ = true;
  // The latest packets at which decoding may begin, in decoding order.
  std::deque<demux::PacketMark> marks_;
  damage::OutstandingPackets outstanding_;
  damage::ReferenceChain chain_;
  PassCheck check_;
  damage::TimestampGaps gaps_;
  PacketTrail trail_;
  std::vector<ipc::Loss> losses_;        // up to the current picture
  std::vector<ipc::Loss> later_losses_;  // after the held pictures
  // The timestamp of the last packet whose picture a decoder of MPEG holds
  // back.
  int64_t held_pts_ = BULKHEAD_NO_TIMESTAMP;
  // The number of packets that the decoder has rejected, minus the packets
  // whose frames were reported as lost or came out damaged.
  uint64_t rejected_ = 0;
  int64_t position_ = -1;
  bool at_beginning_ = true;
  bool packets_ended_ = false;
  bool packet_pending_ = false;  // the packet read last must still be sent
  bool met_damage_ = false;  // there was damage since the decoder was opened
  // True while no sign of damage but lost pictures was met since the decoder
  // was opened.
  bool sound_ = true;
  bool has_picture_ = false;
  // The last held picture comes after a loss, and the decoder's next picture
  // may be the lost one.
  bool awaits_next_ = false;
  bool damaged_ = false;
  ipc::DamageSign sign_ = ipc::DamageSign::kUnknown;
  bool drained_ = false;  // the decoder has given its last picture
  // The last members, so destroyed first, which gives their frames back to the
  // decoder.
  std::deque<Held> held_;
  DecodedFrame picture_;
};

}  // namespace bulkhead::worker::decode
