// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decoder.h"

#include <cstddef>

#include "backends/sdk/sized.h"
#include "backends/worker/media/abi_breach.h"
#include "backends/worker/media/readable_memory.h"

namespace bulkhead::worker {
namespace {

// Bounds the draining of a decoder that reports damage on every call of
// receive_frame.
constexpr uint64_t kMostDamagedReceives = 1 << 16;

// The host uses much less of a backend's sentence.
constexpr size_t kMostOfSentence = 4096;

// The fields up to the timestamp. Without these, a frame is of no use.
constexpr uint32_t kLeastOfFrame = offsetof(bulkhead_frame, duration);

// Returns the result in the words of a failure, or null for a result that is no
// failure.
const char* NameOf(bulkhead_result result) {
  switch (result) {
    case BULKHEAD_BAD_INPUT:
      return "damaged input";
    case BULKHEAD_UNSUPPORTED:
      return "unsupported";
    case BULKHEAD_OUT_OF_MEMORY:
      return "out of memory";
    case BULKHEAD_DEVICE_LOST:
      return "device lost";
    case BULKHEAD_FAILED:
      return "failed";
    case BULKHEAD_OK:
    case BULKHEAD_AGAIN:
    case BULKHEAD_END_OF_STREAM:
      break;
  }
  return nullptr;
}

ipc::Code CodeOf(bulkhead_result result) {
  switch (result) {
    case BULKHEAD_UNSUPPORTED:
      return ipc::Code::kUnsupported;
    case BULKHEAD_OUT_OF_MEMORY:
      return ipc::Code::kResourceExhausted;
    case BULKHEAD_DEVICE_LOST:
      return ipc::Code::kBackendLost;
    case BULKHEAD_FAILED:
      return ipc::Code::kBackendUnavailable;
    default:
      return ipc::Code::kBadInput;
  }
}

ipc::Error FailureOf(const bulkhead_backend& backend, bulkhead_decoder* decoder,
                     const char* call, bulkhead_result result) {
  const char* name = NameOf(result);
  if (name == nullptr) {
    return BreachOf(std::string(call) + " returned " + std::to_string(result),
                    "result-1",
                    "A call returns only the results that its clauses name.");
  }
  std::string message = std::string(backend.name) + ": " + call + ": " + name;
  message += Quoted(ReadText(backend.last_error(decoder), kMostOfSentence));
  return {CodeOf(result), std::move(message)};
}

}  // namespace

std::string Quoted(const std::string& sentence) {
  return sentence.empty() ? "" : "; the backend says: \"" + sentence + '"';
}

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
  decoder_->backend_.release_frame(decoder_->decoder_, &raw_);
  decoder_ = nullptr;
}

ipc::Expected<std::unique_ptr<Decoder>> Decoder::Open(
    const bulkhead_backend& backend, const bulkhead_open_parameters& parameters,
    const bulkhead_runtime& runtime, std::chrono::milliseconds patience) {
  bulkhead_decoder* decoder = nullptr;
  const bulkhead_result result = backend.open(&parameters, &runtime, &decoder);
  if (result == BULKHEAD_OK && decoder != nullptr) {
    return std::unique_ptr<Decoder>(new Decoder(backend, decoder, patience));
  }
  if (result == BULKHEAD_OK) {
    return tl::unexpected(
        BreachOf("open returned BULKHEAD_OK and no decoder", "open-1",
                 "On success *decoder is the backend's object"));
  }
  return tl::unexpected(FailureOf(backend, nullptr, "open", result));
}

Decoder::~Decoder() { backend_.close(decoder_); }

ipc::Error Decoder::Failure(const char* call, bulkhead_result result) const {
  return FailureOf(backend_, decoder_, call, result);
}

void Decoder::NoteDamage() {
  ++damage_count_;
  complaint_ = ReadText(backend_.last_error(decoder_), kMostOfSentence);
  if (complaint_.empty()) complaint_ = "BULKHEAD_BAD_INPUT";
}

ipc::Error Decoder::Stuck(const char* what) const {
  return BreachOf(std::string(what) + " returned BULKHEAD_AGAIN for " +
                      std::to_string(pacer_.limit().count()) + " ms",
                  "again-3", "not for half of the deadline of a frame");
}

ipc::Expected<Decoder::Sent> Decoder::SendPacket(
    const bulkhead_packet* packet) {
  const bulkhead_result result = backend_.send_packet(decoder_, packet);
  if (result != BULKHEAD_AGAIN) {
    pacer_.Progressed();
    wants_packet_ = false;
    ended_ = ended_ || packet == nullptr;
  }
  switch (result) {
    case BULKHEAD_END_OF_STREAM:
      // A backend may report the end of the stream for a repeated drain.
      if (packet != nullptr) {
        return tl::unexpected(
            BreachOf("send_packet returned BULKHEAD_END_OF_STREAM", "end-1",
                     "Only from receive_frame"));
      }
      [[fallthrough]];
    case BULKHEAD_OK:
      damaged_in_a_row_ = 0;
      return Sent::kAccepted;
    case BULKHEAD_AGAIN:
      // Neither takes a packet nor has a frame.
      if (std::exchange(wants_packet_, false) && !pacer_.Wait()) {
        return tl::unexpected(Stuck("both send_packet and receive_frame"));
      }
      return Sent::kTakeFramesFirst;
    case BULKHEAD_BAD_INPUT:
      NoteDamage();
      return Sent::kDamaged;
    default:
      return tl::unexpected(Failure("send_packet", result));
  }
}

ipc::Expected<Decoder::Received> Decoder::ReceiveFrame(DecodedFrame* frame) {
  bulkhead_result result;
  do {
    frame->Reset();
    frame->raw_ = {};
    frame->raw_.size = sizeof(frame->raw_);
    result = backend_.receive_frame(decoder_, &frame->raw_);
    // After the end was sent, the frame is not ready yet.
  } while (result == BULKHEAD_AGAIN && ended_ && pacer_.Wait());
  if (result != BULKHEAD_AGAIN) pacer_.Progressed();
  switch (result) {
    case BULKHEAD_OK:
      frame->decoder_ = this;
      // raw_ stays as the backend filled it: release_frame gets fields beyond
      // our own struct's knowledge back unchanged.
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
      return Received::kFrame;
    case BULKHEAD_AGAIN:
      if (ended_) {
        return tl::unexpected(Stuck("after the end was sent, receive_frame"));
      }
      wants_packet_ = true;
      return Received::kNeedsPacket;
    case BULKHEAD_END_OF_STREAM:
      if (ended_) return Received::kEndOfStream;
      return tl::unexpected(BreachOf(
          "receive_frame returned BULKHEAD_END_OF_STREAM before the end was "
          "sent",
          "end-1", "only after the end was sent"));
    case BULKHEAD_BAD_INPUT:
      NoteDamage();
      if (++damaged_in_a_row_ < kMostDamagedReceives) return Received::kDamaged;
      return tl::unexpected(
          BreachOf("receive_frame returned BULKHEAD_BAD_INPUT " +
                       std::to_string(damaged_in_a_row_) +
                       " times without another packet",
                   "bad-3", "Not without end"));
    default:
      return tl::unexpected(Failure("receive_frame", result));
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

}  // namespace bulkhead::worker
