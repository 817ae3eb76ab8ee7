// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/decode/abi_breach.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Returns what an error says of a backend's sentence: `; the backend says:
// "..."`, or nothing if there is none.
std::string Quoted(const std::string& sentence);

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

  void Reset();
  bool empty() const { return decoder_ == nullptr; }
  const bulkhead_frame& operator*() const { return view_; }
  const bulkhead_frame* operator->() const { return &view_; }

 private:
  friend class Decoder;

  Decoder* decoder_ = nullptr;
  bulkhead_frame raw_{};  // the frame from the backend, for release_frame
  bulkhead_frame
      view_{};  // a copy with fields beyond the backend's size zeroed
};

// The largest picture that a backend may decode, and the size of the stream's
// pictures according to the container. 0: no limit, or unknown.
struct PixelLimit {
  uint64_t pixels = 0;
  uint64_t width = 0;
  uint64_t height = 0;
};

// Wraps a vendor's decoder, which implements the C ABI.
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
// Callers skip damage and continue, as the ffmpeg command does. After kDamaged,
// SendPacket is done with the packet. Only after kTakeFramesFirst must the same
// packet be sent again.
//
// The vendor's code runs in this process, so nothing here protects against it;
// the checks turn a vendor's mistake into a message. Used by one thread.
//
// A backend whose frame is not ready yet, or that has room neither for a packet
// nor a frame to give, returns AGAIN. The calls then wait and ask again, for at
// most `patience`.
//
// Failures: kBackendMisbehaved for what bulkhead_backend.h does not allow,
// kUnsupported, kResourceExhausted, kBackendLost when the device is gone and
// kBackendUnavailable when the backend says that it failed (a new worker may
// continue), else kBadInput. After a failure the decoder can only be destroyed.
class Decoder {
 public:
  enum class Sent { kAccepted, kTakeFramesFirst, kDamaged };
  enum class Received { kFrame, kNeedsPacket, kEndOfStream, kDamaged };

  // `backend`, which must be validated, and `runtime` must outlive the decoder.
  // `parameters` must outlive the call. `examiner`, if it is not null, looks at
  // each call and must outlive the decoder too.
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
  uint64_t damage_count() const { return damage_count_; }

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
  // The calls that an examiner adds where the end was sent and where it was
  // reported.
  ipc::Expected<void> SendEndAgain();
  ipc::Expected<void> ExamineEnd();
  ipc::Expected<void> ReceiveEndAgain(const char* clause, const char* words);

  ipc::Error Failure(const char* call, bulkhead_result result) const;
  // Returns the error for a backend that returns AGAIN for too long.
  ipc::Error Stuck(const char* what) const;
  // Takes the backend's sentence about damage. Fails without one if an examiner
  // looks for that.
  ipc::Expected<void> NoteDamage(const char* call);

  const bulkhead_backend& backend_;
  bulkhead_decoder* const decoder_;
  const PixelLimit limit_;
  Examiner* const examiner_;  // null for nearly all streams
  std::string complaint_;
  uint64_t damage_count_ = 0;
  uint64_t damaged_in_a_row_ = 0;
  AgainPacer pacer_;
  bool wants_packet_ = false;  // receive_frame asked for a packet
  bool ended_ = false;         // the end was sent
};

}  // namespace bulkhead::worker
