// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Whether the table is complete and of our ABI version. Fields are read as far
// as its `size` reaches.
ipc::Expected<void> ValidateBackend(const bulkhead_backend* backend);

class Decoder;

// One picture of a decoder, given back to it when this is destroyed, which has
// to be before the decoder is.
class DecodedFrame {
 public:
  DecodedFrame() = default;
  DecodedFrame(DecodedFrame&& other) noexcept { *this = std::move(other); }
  DecodedFrame& operator=(DecodedFrame&& other) noexcept;
  ~DecodedFrame() { Reset(); }

  void Reset();
  bool empty() const { return decoder_ == nullptr; }
  const bulkhead_frame& operator*() const { return view_; }
  const bulkhead_frame* operator->() const { return &view_; }

 private:
  friend class Decoder;

  Decoder* decoder_ = nullptr;
  bulkhead_frame raw_{};   // as the backend filled it, for release_frame
  bulkhead_frame view_{};  // fields beyond the backend's size are zero
};

// A decoder of a vendor, behind the C ABI.
//
//     for (;;) {                                  // one packet at a time
//       switch (*decoder->ReceiveFrame(&frame)) {
//         case Received::kFrame: Show(*frame); break;
//         case Received::kDamaged: break;         // the next may be sound
//         case Received::kNeedsPacket: SendNext(); break;
//         case Received::kEndOfStream: return;
//       }
//     }
//
// Like the ffmpeg command, skip what is damaged and go on: SendPacket answers
// kDamaged for a packet that is then done with. Only kTakeFramesFirst means
// that the same packet has to be sent again.
//
// The vendor's code shares this process and its sandbox, so nothing here
// protects from it; checks exist to turn a vendor's mistake into a message.
// One thread. Failures: kUnsupported, kResourceExhausted, kBackendLost when the
// device is gone (a new worker may go on), else kBadInput; after one the
// decoder is only destroyed.
class Decoder {
 public:
  enum class Sent { kAccepted, kTakeFramesFirst, kDamaged };
  enum class Received { kFrame, kNeedsPacket, kEndOfStream, kDamaged };

  // `backend` (validated) and `runtime` outlive the decoder, `parameters` the
  // call.
  static ipc::Expected<std::unique_ptr<Decoder>> Open(
      const bulkhead_backend& backend,
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime& runtime);

  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder();

  // Null: the end of the stream.
  ipc::Expected<Sent> SendPacket(const bulkhead_packet* packet);
  ipc::Expected<Received> ReceiveFrame(DecodedFrame* frame);

  // Before the first packet after a seek.
  void Flush();

  // About the last packet or frame that was damaged.
  const std::string& damage() const { return damage_; }
  uint64_t damage_count() const { return damage_count_; }

 private:
  friend class DecodedFrame;

  Decoder(const bulkhead_backend& backend, bulkhead_decoder* decoder)
      : backend_(backend), decoder_(decoder) {}

  ipc::Error Failure(const char* call, bulkhead_result result) const;
  void NoteDamage();

  const bulkhead_backend& backend_;
  bulkhead_decoder* const decoder_;
  std::string damage_;
  uint64_t damage_count_ = 0;
  uint64_t damaged_in_a_row_ = 0;
};

}  // namespace bulkhead::worker
