// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/backend_failure.h"

#include <cstddef>
#include <optional>

#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/readable_memory.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker::decode {
namespace {

// The most bytes of a backend's sentence that are read. The host uses fewer.
constexpr size_t kMostOfSentence = 4096;

// Returns why a backend may have returned OUT_OF_MEMORY, which also refuses
// pictures beyond max_frame_pixels.
std::string WhatIsLacking(const PixelLimit& limit) {
  if (limit.pixels == 0) return "out of memory";
  const std::string most = std::to_string(limit.pixels);
  if (limit.width == 0 || limit.height <= limit.pixels / limit.width) {
    return "a picture of more than " + most + " pixels, or out of memory";
  }
  return "the picture of " + std::to_string(limit.width) + "x" +
         std::to_string(limit.height) + " is larger than the limit of " + most +
         " pixels; raise " + ipc::LimitName("frame_pixels");
}

// Returns the code and the words for a failed result, or nullopt for any other
// result.
std::optional<ipc::Error> MeaningOf(bulkhead_result result,
                                    const PixelLimit& limit) {
  switch (result) {
    case BULKHEAD_BAD_INPUT:
      return ipc::Error{ipc::Code::kBadInput, "damaged input"};
    case BULKHEAD_UNSUPPORTED:
      return ipc::Error{ipc::Code::kUnsupported, "unsupported"};
    case BULKHEAD_OUT_OF_MEMORY:
      return ipc::Error{ipc::Code::kResourceExhausted, WhatIsLacking(limit)};
    case BULKHEAD_DEVICE_LOST:
      return ipc::Error{ipc::Code::kBackendLost, "device lost"};
    case BULKHEAD_FAILED:
      return ipc::Error{ipc::Code::kBackendUnavailable, "failed"};
    case BULKHEAD_OK:
    case BULKHEAD_AGAIN:
    case BULKHEAD_END_OF_STREAM:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string SentenceOf(const bulkhead_backend& backend,
                       bulkhead_decoder* decoder) {
  return ReadText(backend.last_error(decoder), kMostOfSentence);
}

std::string Quoted(const std::string& sentence) {
  return sentence.empty() ? "" : "; the backend says: \"" + sentence + '"';
}

ipc::Error FailureOf(const bulkhead_backend& backend, bulkhead_decoder* decoder,
                     const PixelLimit& limit, const char* call,
                     bulkhead_result result) {
  std::optional<ipc::Error> meaning = MeaningOf(result, limit);
  if (!meaning) {
    return BreachOf(std::string(call) + " returned " + std::to_string(result),
                    "result-1",
                    "A call returns only the results that its clauses name.");
  }
  return {meaning->code, std::string(backend.name) + ": " + call + ": " +
                             meaning->message +
                             Quoted(SentenceOf(backend, decoder))};
}

}  // namespace bulkhead::worker::decode
