// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/backend_failure.h"
#include "ipc/error.h"

namespace bulkhead::worker::decode {

class Decoder;
class Examiner;

// Owns one frame of a decoder. Destruction gives the frame back to the decoder,
// so the frame must be destroyed before the decoder.
class DecodedFrame {
 public:
  DecodedFrame() = default;
  DecodedFrame(DecodedFrame&& other) noexcept { *this = std::move(other); }
  DecodedFrame& operator=(DecodedFrame&& other) noexcept;
  ~DecodedFrame() { Reset(); }

  // Gives the frame back to the decoder.
  void Reset();
  bool empty() const { return decoder_ == nullptr; }
  const bulkhead_frame& operator*() const { return view_; }
  const bulkhead_frame* operator->() const { return &view_; }

 private:
  friend class Decoder;

  Decoder* decoder_ = nullptr;
  bulkhead_frame raw_{};  // the frame from the backend, for release_frame
  bulkhead_frame
      view_{};  // a copy; fields that the backend does not know are zero
};

// Wraps a vendor's decoder, which implements the C ABI, and checks its results.
//
//     for (;;) {                                  // one packet at a time
//       switch (*decoder->ReceiveFrame(&frame)) {
//         case Received::kFrame: Show(*frame); break;
//         case Received::kDamaged: break;         // the next frame may be fine
//         case Received::kNeedsPacket: SendNext(); break;
//         case Received::kEndOfStream: return;
//       }
//     }
//
// Callers skip damage and continue, as the ffmpeg command does. If SendPacket
// returns kTakeFramesFirst, receive frames, then send the same packet again. If
// it returns kDamaged, the packet was dropped; send the next one.
//
// The vendor's code runs in this process, so nothing here protects against it;
// the checks turn a vendor's mistake into a message. Used by one thread.
//
// A backend that is busy returns AGAIN: its next frame is not ready yet, or it
// neither takes a packet nor has a frame. SendPacket and ReceiveFrame then
// sleep before the backend is asked again. They fail if it makes no progress
// for the time `patience`.
//
// After a failure the decoder can only be destroyed. Failures:
//   kBackendMisbehaved: a breach of bulkhead_backend.h;
//   kBackendLost: the backend says that its device is gone (DEVICE_LOST);
//   kBackendUnavailable: the backend says that it failed (FAILED). After either
//     of these two, a new worker may continue;
//   kUnsupported, kResourceExhausted: the backend says so;
//   kBadInput: open says that the stream is damaged (BAD_INPUT).
class Decoder {
 public:
  enum class Sent { kAccepted, kTakeFramesFirst, kDamaged };
  enum class Received { kFrame, kNeedsPacket, kEndOfStream, kDamaged };

  // `backend`, which must be validated, and `runtime` must outlive the decoder.
  // `parameters` must outlive the call. `examiner`, if it is not null, checks
  // each call and must outlive the decoder, too.
  static ipc::Expected<std::unique_ptr<Decoder>> Open(
      const bulkhead_backend& backend,
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime& runtime, std::chrono::milliseconds patience,
      Examiner* examiner = nullptr);

  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder();

  // Sends one packet. Null signals the end of the stream.
  ipc::Expected<Sent> SendPacket(const bulkhead_packet* packet);
  ipc::Expected<Received> ReceiveFrame(DecodedFrame* frame);

  // Drops all packets and frames. Call this before the first packet after a
  // seek.
  void Flush();

  // Returns the backend's sentence about the last damaged packet or frame, and
  // forgets it.
  std::string TakeComplaint() { return std::exchange(complaint_, {}); }

 private:
  friend class DecodedFrame;

  Decoder(const bulkhead_backend& backend, bulkhead_decoder* decoder,
          const PixelLimit& limit, std::chrono::milliseconds patience,
          Examiner* examiner)
      : backend_(backend),
        decoder_(decoder),
        limit_(limit),
        examiner_(examiner),
        pacer_(patience) {}

  void Release(bulkhead_frame& frame);
  // Make the extra calls that an examiner asks for: SendEndAgain after the end
  // was sent, ExamineEnd after the backend reported the end of the stream.
  // ReceiveEndAgain checks that the backend reports that end once more; if not,
  // the backend breaks `clause`, which `words` quotes.
  ipc::Expected<void> SendEndAgain();
  ipc::Expected<void> ExamineEnd();
  ipc::Expected<void> ReceiveEndAgain(const char* clause, const char* words);

  // Returns the error for a backend that returns AGAIN for too long. `what`
  // names the calls, as the subject of the message.
  ipc::Error Stuck(const char* what) const;
  // Stores the backend's sentence about damage. Without a sentence, fails if
  // there is an examiner.
  ipc::Expected<void> NoteDamage(const char* call);

  const bulkhead_backend& backend_;
  bulkhead_decoder* const decoder_;
  const PixelLimit limit_;
  Examiner* const examiner_;  // null for nearly all streams
  std::string complaint_;
  uint64_t damaged_in_a_row_ = 0;
  AgainPacer pacer_;
  bool wants_packet_ = false;  // the last receive_frame asked for a packet
  bool ended_ = false;         // the end of the stream was sent
};

}  // namespace bulkhead::worker::decode
