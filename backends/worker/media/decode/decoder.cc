// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backends/sdk/bulkhead_backend.hpp"
#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/examiner.h"
#include "ipc/try.h"

namespace bulkhead::worker::decode {
namespace {

// Limits how often in a row receive_frame may report damage ([bad-3]).
constexpr uint64_t kMostDamagedReceives = 1 << 16;

// The size of a frame with the fields up to `pts`, the least that is usable.
constexpr uint32_t kLeastOfFrame = offsetof(bulkhead_frame, duration);

void Clear(bulkhead_frame& frame) {
  // Clears the bytes between the fields, too, since IsClear compares them.
  std::memset(&frame, 0, sizeof(frame));
  frame.size = sizeof(frame);
}

bool IsClear(const bulkhead_frame& frame) {
  bulkhead_frame clear;
  Clear(clear);
  return std::memcmp(&frame, &clear, sizeof(frame)) == 0;
}

}  // namespace

DecodedFrame& DecodedFrame::operator=(DecodedFrame&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  decoder_ = std::exchange(other.decoder_, nullptr);
  raw_ = other.raw_;
  view_ = other.view_;
  return *this;
}

void DecodedFrame::Reset() {
  if (decoder_ == nullptr) return;
  decoder_->Release(raw_);
  decoder_ = nullptr;
}

ipc::Expected<std::unique_ptr<Decoder>> Decoder::Open(
    const bulkhead_backend& backend, const bulkhead_open_parameters& parameters,
    const bulkhead_runtime& runtime, std::chrono::milliseconds patience,
    Examiner* examiner) {
  if (examiner != nullptr) IPC_TRY(examiner->Opens());
  const bulkhead_runtime& services =
      examiner != nullptr ? examiner->ServicesOver(runtime) : runtime;
  PixelLimit limit{.pixels = parameters.max_frame_pixels};
  if (parameters.codec != nullptr) {
    limit.width = static_cast<uint64_t>(std::max(parameters.codec->width, 0));
    limit.height = static_cast<uint64_t>(std::max(parameters.codec->height, 0));
  }
  bulkhead_decoder* decoder = nullptr;
  const bulkhead_result result = backend.open(&parameters, &services, &decoder);
  if (result == BULKHEAD_OK && decoder != nullptr) {
    return std::unique_ptr<Decoder>(
        new Decoder(backend, decoder, limit, patience, examiner));
  }
  if (result == BULKHEAD_OK) {
    return tl::unexpected(
        BreachOf("open returned BULKHEAD_OK and no decoder", "open-1",
                 "On success *decoder is the backend's object"));
  }
  return tl::unexpected(FailureOf(backend, nullptr, limit, "open", result));
}

Decoder::~Decoder() {
  if (examiner_ != nullptr) examiner_->ReleaseAll(backend_, decoder_);
  backend_.close(decoder_);
  if (examiner_ != nullptr) examiner_->Closed();
}

void Decoder::Release(bulkhead_frame& frame) {
  if (examiner_ != nullptr) {
    return examiner_->GivenBack(backend_, decoder_, frame);
  }
  backend_.release_frame(decoder_, &frame);
}

ipc::Expected<void> Decoder::SendEndAgain() {
  const bulkhead_result again = backend_.send_packet(decoder_, nullptr);
  if (again == BULKHEAD_OK || again == BULKHEAD_AGAIN ||
      again == BULKHEAD_END_OF_STREAM) {
    return {};
  }
  return tl::unexpected(BreachOf("send_packet returned " +
                                     std::to_string(again) +
                                     " for the end that was sent before",
                                 "send-4", "A second NULL changes nothing"));
}

ipc::Expected<void> Decoder::ExamineEnd() {
  examiner_->ReleaseAll(backend_, decoder_);
  IPC_TRY(examiner_->FoundChanged());
  if (!examiner_->ends_twice()) return {};
  IPC_TRY(ReceiveEndAgain("end-1", "further calls return the same"));
  IPC_TRY(SendEndAgain());
  return ReceiveEndAgain("send-4", "A second NULL changes nothing");
}

ipc::Expected<void> Decoder::ReceiveEndAgain(const char* clause,
                                             const char* words) {
  bulkhead_frame frame{};
  frame.size = sizeof(frame);
  const bulkhead_result again = backend_.receive_frame(decoder_, &frame);
  if (again == BULKHEAD_END_OF_STREAM) return {};
  if (again == BULKHEAD_OK) backend_.release_frame(decoder_, &frame);
  return tl::unexpected(BreachOf("receive_frame returned " +
                                     std::to_string(again) +
                                     " after it had told the end",
                                 clause, words));
}

ipc::Expected<void> Decoder::NoteDamage(const char* call) {
  complaint_ = SentenceOf(backend_, decoder_);
  if (!complaint_.empty()) return {};
  complaint_ = "BULKHEAD_BAD_INPUT";
  if (examiner_ == nullptr) return {};
  return tl::unexpected(BreachOf(
      std::string(call) +
          " returned BULKHEAD_BAD_INPUT, and last_error has no sentence",
      "result-2", "last_error returns a sentence that describes the problem"));
}

ipc::Error Decoder::Stuck(const char* what) const {
  return BreachOf(std::string(what) + " returned BULKHEAD_AGAIN for " +
                      std::to_string(pacer_.limit().count()) + " ms",
                  "again-3", "not for half of the deadline of a frame");
}

ipc::Expected<Decoder::Sent> Decoder::SendPacket(
    const bulkhead_packet* packet) {
  if (examiner_ != nullptr) packet = examiner_->InPlaceOf(packet);
  const bulkhead_result result = backend_.send_packet(decoder_, packet);
  if (examiner_ != nullptr && packet != nullptr && result == BULKHEAD_AGAIN) {
    examiner_->NotTaken();
  }
  if (result != BULKHEAD_AGAIN) {
    pacer_.Progressed();
    wants_packet_ = false;
    ended_ = ended_ || packet == nullptr;
  }
  switch (result) {
    case BULKHEAD_END_OF_STREAM:
      // A backend may return this if the end is sent a second time.
      if (packet != nullptr) {
        return tl::unexpected(
            BreachOf("send_packet returned BULKHEAD_END_OF_STREAM", "end-1",
                     "Only from receive_frame"));
      }
      [[fallthrough]];
    case BULKHEAD_OK:
      damaged_in_a_row_ = 0;
      if (examiner_ != nullptr && packet == nullptr &&
          examiner_->ends_twice()) {
        IPC_TRY(SendEndAgain());
      }
      return Sent::kAccepted;
    case BULKHEAD_AGAIN:
      // If receive_frame wanted a packet before, the backend is busy.
      if (std::exchange(wants_packet_, false) && !pacer_.Wait()) {
        return tl::unexpected(Stuck("both send_packet and receive_frame"));
      }
      return Sent::kTakeFramesFirst;
    case BULKHEAD_BAD_INPUT:
      IPC_TRY(NoteDamage("send_packet"));
      return Sent::kDamaged;
    default:
      return tl::unexpected(
          FailureOf(backend_, decoder_, limit_, "send_packet", result));
  }
}

ipc::Expected<Decoder::Received> Decoder::ReceiveFrame(DecodedFrame* frame) {
  bulkhead_result result;
  do {
    frame->Reset();
    Clear(frame->raw_);
    result = backend_.receive_frame(decoder_, &frame->raw_);
    // AGAIN after the end was sent means that the frame is not ready yet.
  } while (result == BULKHEAD_AGAIN && ended_ && pacer_.Wait());
  if (result != BULKHEAD_AGAIN) pacer_.Progressed();
  if (examiner_ != nullptr && result != BULKHEAD_OK && !IsClear(frame->raw_)) {
    return tl::unexpected(
        BreachOf("receive_frame returned " + std::to_string(result) +
                     " and filled a frame",
                 "receive-2", "Fills *frame only if it returns OK"));
  }
  switch (result) {
    case BULKHEAD_OK:
      frame->decoder_ = this;
      // raw_ stays as the backend filled it, so that release_frame gets back
      // also the fields that this release does not know.
      frame->view_ = sdk::TakeSized(frame->raw_);
      damaged_in_a_row_ = 0;
      wants_packet_ = false;
      if (frame->raw_.size < kLeastOfFrame) {
        return tl::unexpected(BreachOf(
            "receive_frame gave a frame whose size is " +
                std::to_string(frame->raw_.size) + " bytes",
            "abi-2",
            "is returned with `size` set to the part that was filled"));
      }
      if (examiner_ != nullptr) IPC_TRY(examiner_->Received(frame->view_));
      return Received::kFrame;
    case BULKHEAD_AGAIN:
      if (ended_) {
        return tl::unexpected(Stuck("after the end was sent, receive_frame"));
      }
      wants_packet_ = true;
      return Received::kNeedsPacket;
    case BULKHEAD_END_OF_STREAM:
      if (ended_ && examiner_ != nullptr) IPC_TRY(ExamineEnd());
      if (ended_) return Received::kEndOfStream;
      return tl::unexpected(BreachOf(
          "receive_frame returned BULKHEAD_END_OF_STREAM before the end was "
          "sent",
          "end-1", "only after the end was sent"));
    case BULKHEAD_BAD_INPUT:
      IPC_TRY(NoteDamage("receive_frame"));
      if (++damaged_in_a_row_ < kMostDamagedReceives) return Received::kDamaged;
      return tl::unexpected(
          BreachOf("receive_frame returned BULKHEAD_BAD_INPUT " +
                       std::to_string(damaged_in_a_row_) +
                       " times without another packet",
                   "bad-3", "Not without end"));
    default:
      return tl::unexpected(
          FailureOf(backend_, decoder_, limit_, "receive_frame", result));
  }
}

void Decoder::Flush() {
  complaint_.clear();
  damaged_in_a_row_ = 0;
  wants_packet_ = false;
  ended_ = false;
  pacer_.Progressed();
  backend_.flush(decoder_);
}

}  // namespace bulkhead::worker::decode
