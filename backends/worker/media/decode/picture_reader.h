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
#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/damage_sign.h"
#include "ipc/error.h"

namespace bulkhead::worker {

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
// error, pictures are held back until it is known what the error concerns. What
// is odd and costs no picture is a loss with the sign of a note. The rule of
// what is which: ipc/damage_sign.h.
//
// A seek to the beginning, or any seek after damage, opens a new decoder, since
// state of the old one could show in later pictures. So does a seek to a packet
// that does not set anew what was set since the decoder was opened
// (AccessPoints). `on_replace` is called
// before a decoder is closed, so that the caller can give up its frames.
//
// Each packet shows at most one picture, as in the index. A second picture with
// the timestamp of the same packet is left out, and so is the picture of a
// packet that is not to be output, or that was reported as lost. A picture
// with the timestamp of no packet is a breach of the ABI, except in a damaged
// stream, where decoders guess; so are many more pictures than packets. So is
// a picture that comes after a later one: where nothing else shows damage, the
// first loss is only reported once it is known that the decoder's next picture
// is not the lost one.
//
// Used by one thread. Fails as Demuxer and Decoder do.
class PictureReader {
 public:
  using OpenDecoder = std::function<ipc::Expected<std::unique_ptr<Decoder>>()>;

  // `demuxer` must be at the beginning.
  static ipc::Expected<std::unique_ptr<PictureReader>> Open(
      std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder,
      std::function<void()> on_replace);

  const Demuxer& demuxer() const { return *demuxer_; }
  // Returns whether the next picture is the first one, and no loss before that
  // picture has been reported.
  bool at_beginning() const { return at_beginning_; }

  ipc::Expected<void> SeekToBeginning();
  // Seeks to a keyframe at or before `timestamp`, or to the beginning if there
  // is none or the stream cannot seek.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);
  // Seeks to the packet with this mark, or to the beginning if the seek does
  // not arrive at that very packet.
  ipc::Expected<void> SeekToPacket(const PacketMark& mark);

  // Lends the demuxer's file for a reading of the whole stream, if that changes
  // nothing here (Demuxer::Lend); else returns null. Nothing else may be called
  // until TakeBack.
  std::unique_ptr<Demuxer> Lend();
  void TakeBack(std::unique_ptr<Demuxer> borrower) {
    demuxer_->TakeBack(std::move(borrower));
  }

  // Decodes until there is a picture. Returns false at the end of the stream.
  // Does nothing as long as the previous picture has not been passed.
  ipc::Expected<bool> Next();
  bool has_picture() const { return has_picture_; }
  DecodedFrame& picture() { return picture_; }
  // Returns whether the decoder made up parts of the picture, or a picture that
  // it refers to, and what showed that.
  bool damaged() const { return damaged_; }
  ipc::DamageSign sign() const { return sign_; }
  // Returns the byte offset of the picture's packet in the file, or -1.
  int64_t position() const { return position_; }
  // Returns the check of the picture's packet if decoding may begin there
  // (PacketMark); else 0.
  uint32_t access_check() const;
  // Returns whether a packet since the decoder was opened makes the pictures
  // depend on the number of the decoder's threads.
  bool depends_on_threads() const { return points_.depends_on_threads(); }
  // Returns whether a packet was sent since the decoder was opened.
  bool begun() const { return packets_ > 0; }
  // Says how far the decoder got, for the message about a failure:
  // "after 3 packets, the last with timestamp 1024, byte 48 of the file".
  std::string Progress() const;
  // Gives the current picture back, so that Next() decodes another one.
  void Pass();

  // Returns the losses since the last call.
  std::vector<Loss> TakeLosses();
  // Returns the backend's last sentence about damage since the last call.
  std::string TakeComplaint() { return decoder_->TakeComplaint(); }

 private:
  PictureReader(std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder,
                std::function<void()> on_replace);

  // Makes the decoder ready for the packet that a seek of the demuxer went to.
  ipc::Expected<void> Enter(const ipc::Expected<void>& sought, bool at_point);
  ipc::Expected<void> ReplaceDecoder();
  void Forget();
  ipc::Expected<void> ReadPacket();
  // Reports losses, and gives them their signs.
  void TellLosses(std::vector<Loss> losses);
  struct Held {  // a picture that waits for Next()
    DecodedFrame frame;
    int64_t position;
    std::vector<Loss> losses;  // before the picture
  };
  ipc::Expected<void> Take(DecodedFrame frame);
  // Makes the first of the pictures that are held the current one, if it is
  // known whether it is damaged.
  bool Release();
  void Rejected();
  // Reports a note about the packet that was read last.
  void TellNote(ipc::DamageSign sign);
  // Reports a note about the packet after a gap.
  void TellGap(const TimestampGaps::Packet& behind);
  // Checks the number and the timestamp of the pictures.
  ipc::Expected<void> CheckOrigin(OutstandingPackets::Origin origin,
                                  int64_t pts);
  ipc::Expected<void> End();
  void TellMissingEnd();
  // Returns how many frames are missing up to the time at which the header of
  // the file says that the stream ends; 0 if less than one is.
  uint64_t FramesUntil(int64_t end) const;

  const std::unique_ptr<Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  const std::function<void()> on_replace_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<PacketInspector> inspector_;
  AccessPoints points_;
  bool knows_points_ = true;  // since decoding began at one
  // The latest packets at which decoding may begin, in decoding order.
  std::deque<PacketMark> marks_;
  OutstandingPackets outstanding_;
  ReferenceChain chain_;
  EqualTimestamps equal_timestamps_;
  TimestampGaps gaps_;
  std::vector<Loss> losses_;        // up to the current picture
  std::vector<Loss> later_losses_;  // after the pictures that are held
  uint64_t packets_ = 0;            // sent since the decoder was opened
  uint64_t pictures_ = 0;           // that the decoder has given for them
  int64_t last_pts_ = BULKHEAD_NO_TIMESTAMP;
  int64_t last_duration_ = 0;
  int64_t last_position_ = -1;
  int64_t latest_end_ = BULKHEAD_NO_TIMESTAMP;  // of all packets
  bool last_is_marked_ = false;
  // The last packet whose picture a decoder of MPEG holds back.
  int64_t held_pts_ = BULKHEAD_NO_TIMESTAMP;
  // Packets that the decoder has rejected, less those whose frames were
  // reported as lost or came out damaged.
  uint64_t rejected_ = 0;
  bool shown_ = false;  // the decoder has given a picture
  int64_t position_ = -1;
  bool at_beginning_ = true;
  bool packets_ended_ = false;
  bool packet_pending_ = false;
  bool met_damage_ = false;  // damage since the decoder was opened
  // Since the decoder was opened, nothing but lost pictures showed damage.
  bool sound_ = true;
  bool has_picture_ = false;
  // The last picture that was taken comes after a loss, and the next one may
  // be the lost one.
  bool awaits_next_ = false;
  bool damaged_ = false;
  ipc::DamageSign sign_ = ipc::DamageSign::kUnknown;
  bool drained_ = false;  // the decoder has given its last picture
  // The last members, so destroyed first: they belong to the decoder.
  std::deque<Held> held_;
  DecodedFrame picture_;
};

}  // namespace bulkhead::worker
