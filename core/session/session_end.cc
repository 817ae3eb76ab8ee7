// SPDX-License-Identifier: Apache-2.0
#include "core/session/session_end.h"

#include <algorithm>

#include "core/end_messages.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

void Write(const CrashClaim& claim, schema::CrashNote::Builder out) {
  out.setSignal(static_cast<uint8_t>(claim.signal));
  out.setAddress(claim.address);
  out.setFrameCount(claim.backtrace.size());
  auto frames = out.initFrames(claim.backtrace.size());
  for (size_t i = 0; i < claim.backtrace.size(); ++i) {
    const std::string& place = claim.backtrace[i];
    auto bytes = frames[i].initPlace(place.size());
    std::copy(place.begin(), place.end(), bytes.begin());
  }
}

void Write(const Crash::Input& input, schema::SessionInput::Builder out) {
  out.setPath(input.path);
  out.setBytes(input.bytes);
  out.setModifiedNs(input.modified_ns);
  out.setDevice(input.device);
  out.setInode(input.inode);
}

void Write(const Crash::Request& request, schema::SessionRequest::Builder out) {
  out.setKind(static_cast<schema::SessionRequest::Kind>(request.kind));
  out.setFrame(request.frame);
  out.setStreamIndex(request.stream_index.value_or(-1));
  out.setThreads(request.threads);
  auto options = out.initOptions(request.backend_options.size());
  for (size_t i = 0; i < request.backend_options.size(); ++i) {
    options[i].setKey(request.backend_options[i].first);
    options[i].setValue(request.backend_options[i].second);
  }
  out.setComplete(request.complete);
  out.setDeadlineMs(request.deadline_ms);
  out.setIgnoresErrors(request.ignores_errors);
}

}  // namespace

void SetOptions(const VideoOptions& options, Crash::Request& request) {
  request.stream_index = options.stream_index;
  request.threads = options.threads;
  request.ignores_errors = options.on_corrupt != OnCorrupt::kError;
  size_t bytes = 0;
  for (const auto& [key, value] : options.backend_options) {
    bytes += key.size() + value.size();
  }
  request.complete = bytes <= kMaxOptionBytes;
  if (request.complete) request.backend_options = options.backend_options;
}

void Write(const SeenEnd& seen, schema::SessionEnd::Builder out) {
  out.setSeen(static_cast<schema::SessionEnd::Seen>(seen.how));
  out.setMetMedia(seen.met_media);
  Write(seen.position, out.initPosition());
  out.setPositionText(seen.position_text);
  if (seen.claim.signal != 0) Write(seen.claim, out.initClaim());
  out.setAttempt(seen.attempt);
  out.setCause(seen.cause);
  Write(seen.input, out.initInput());
  Write(seen.request, out.initRequest());
  out.setLastMessage(seen.last_message);
}

}  // namespace bulkhead::session
