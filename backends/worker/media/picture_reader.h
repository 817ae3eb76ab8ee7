// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/worker/media/decoder.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/outstanding_packets.h"
#include "backends/worker/media/packet_inspector.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// The pictures of one video stream, in the order in which they are shown, and
// what was lost between them.
//
//     auto reader = *PictureReader::Open(demuxer, open_decoder, on_replace);
//     while (*reader->Next()) {
//       for (const Loss& loss : reader->TakeLosses()) Report(loss);
//       Use(reader->picture());
//       reader->Pass();
//     }
//
// Damage is no failure: what cannot be decoded is a loss. The decoder is opened
// anew wherever what it remembers could show in a later picture: at the
// beginning, and after damage. `on_replace` is called before a decoder goes, so
// that whoever holds frames of it gives them up.
//
// One thread. Failures are those of Demuxer and Decoder.
class PictureReader {
 public:
  using OpenDecoder = std::function<ipc::Expected<std::unique_ptr<Decoder>>()>;

  // `demuxer` stands at the beginning.
  static ipc::Expected<std::unique_ptr<PictureReader>> Open(
      std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder,
      std::function<void()> on_replace);

  const Demuxer& demuxer() const { return *demuxer_; }
  // The next picture is the first, and nothing was lost or told before it.
  bool at_beginning() const { return at_beginning_; }

  ipc::Expected<void> SeekToBeginning();
  // Before the first keyframe: to the beginning.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);

  // Decodes until there is a picture; false at the end. Does nothing until the
  // one before is passed.
  ipc::Expected<bool> Next();
  bool has_picture() const { return has_picture_; }
  DecodedFrame& picture() { return picture_; }
  // Byte of its packet in the file, -1: unknown.
  int64_t position() const { return position_; }
  void Pass();

  // Since they were last taken.
  std::vector<Loss> TakeLosses();

 private:
  PictureReader(std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder,
                std::function<void()> on_replace);

  ipc::Expected<void> ReplaceDecoder();
  void Forget();
  ipc::Expected<void> ReadPacket();
  void Note(const std::vector<Loss>& losses);

  const std::unique_ptr<Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  const std::function<void()> on_replace_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<PacketInspector> inspector_;
  OutstandingPackets outstanding_;
  std::vector<Loss> losses_;
  int64_t position_ = -1;
  bool at_beginning_ = true;
  bool packets_ended_ = false;
  bool packet_pending_ = false;
  bool met_damage_ = false;  // since the decoder was opened
  bool has_picture_ = false;
  // Last: it is a frame of the decoder.
  DecodedFrame picture_;
};

}  // namespace bulkhead::worker
