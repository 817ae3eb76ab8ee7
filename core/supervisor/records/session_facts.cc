// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/session_facts.h"

#include <cstddef>

#include "core/base/clean_text.h"

namespace bulkhead::records {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxWords = 512;
// Enough for a path and a few words.
constexpr size_t kMaxPositionBytes = 4'096;

Transform ToTransform(schema::AskedTransform::Reader from) {
  const uint32_t height = from.getHeight();
  const uint32_t width = from.getWidth();
  switch (from.getKind()) {
    case schema::AskedTransform::Kind::RESIZE:
      break;
    case schema::AskedTransform::Kind::CENTER_CROP:
      return CenterCrop{.height = height, .width = width};
    case schema::AskedTransform::Kind::CROP:
      return Crop{.top = from.getTop(),
                  .left = from.getLeft(),
                  .height = height,
                  .width = width};
    case schema::AskedTransform::Kind::RANDOM_CROP:
      return RandomCrop{
          .height = height, .width = width, .seed = from.getSeed()};
  }
  return Resize{.height = height,
                .width = width,
                .filter = static_cast<Resize::Filter>(from.getFilter())};
}

Crash::Request ToRequest(schema::SessionRequest::Reader from) {
  Crash::Request request;
  switch (from.getKind()) {
    case schema::SessionRequest::Kind::START:
      request.kind = Crash::Request::Kind::kStart;
      break;
    case schema::SessionRequest::Kind::OPEN:
      request.kind = Crash::Request::Kind::kOpen;
      break;
    case schema::SessionRequest::Kind::SCAN:
      request.kind = Crash::Request::Kind::kScan;
      break;
    case schema::SessionRequest::Kind::NEXT:
      request.kind = Crash::Request::Kind::kNext;
      break;
    case schema::SessionRequest::Kind::FRAME_AT:
      request.kind = Crash::Request::Kind::kFrameAt;
      break;
  }
  request.frame = from.getFrame();
  if (from.getStreamIndex() >= 0) request.stream_index = from.getStreamIndex();
  if (from.getBestStream()) request.stream_choice = StreamChoice::kBest;
  request.threads = from.getThreads();
  for (const auto option : from.getOptions()) {
    request.backend_options.emplace_back(option.getKey().cStr(),
                                         option.getValue().cStr());
  }
  request.complete = from.getComplete();
  request.deadline_ms = from.getDeadlineMs();
  request.on_corrupt = static_cast<OnCorrupt>(from.getOnCorrupt());
  request.audio = from.getAudio();
  if (const uint32_t rate = from.getSampleRate()) {
    request.sample_rate = static_cast<int>(rate);
  }
  if (const uint32_t channels = from.getChannelCount()) {
    request.num_channels = static_cast<int>(channels);
  }
  request.output_dtype = static_cast<OutputDtype>(from.getDtype());
  for (const auto transform : from.getTransforms()) {
    request.transforms.push_back(ToTransform(transform));
  }
  return request;
}

}  // namespace

SessionFacts ToSessionFacts(schema::SessionEnd::Reader end) {
  SessionFacts facts;
  facts.device = CleanText(end.getDevice().cStr(), kMaxWords);
  facts.position = CleanText(end.getPositionText().cStr(), kMaxPositionBytes);
  facts.attempt = end.getAttempt();
  facts.cause = CleanText(end.getCause().cStr(), kMaxWords);
  facts.claims_cause = end.getClaimsCause();
  if (end.hasInput()) {
    const auto input = end.getInput();
    facts.input = Crash::Input{.path = input.getPath().cStr(),
                               .bytes = input.getBytes(),
                               .modified_ns = input.getModifiedNs(),
                               .device = input.getDevice(),
                               .inode = input.getInode()};
  }
  facts.request = ToRequest(end.getRequest());
  facts.last_message = CleanText(end.getLastMessage().cStr(), kMaxWords);
  return facts;
}

}  // namespace bulkhead::records
