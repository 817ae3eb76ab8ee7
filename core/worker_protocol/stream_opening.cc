// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/stream_opening.h"

#include "core/worker_protocol/allowed_media.h"

namespace bulkhead::worker_protocol {
namespace {

constexpr size_t kMostOptions = 32;
constexpr size_t kMostOptionBytes = 8192;

}  // namespace

Status ValidateBackendOptions(BackendOptions options) {
  size_t bytes = 0;
  for (const auto& [key, value] : options) bytes += key.size() + value.size();
  if (options.size() <= kMostOptions && bytes <= kMostOptionBytes) {
    return Status();
  }
  return Status(
      Code::kInvalidArgument,
      "backend_options (--option KEY=VALUE) are " +
          std::to_string(options.size()) + " with " + std::to_string(bytes) +
          " bytes; at most " + std::to_string(kMostOptions) + " with " +
          std::to_string(kMostOptionBytes) + " bytes together are possible");
}

size_t OpeningWords(const StreamOpening& opening) {
  size_t words =
      128 + opening.name_hint.size() / 8 + AllowedWords(opening.allowed);
  for (const auto& [key, value] : opening.backend_options) {
    words += 8 + (key.size() + value.size()) / 8;
  }
  return words;
}

void WriteOpening(const StreamOpening& opening,
                  ipc::schema::Open::Builder out) {
  out.setKind(opening.kind);
  out.setNameHint(opening.name_hint);
  out.setMediaBytes(opening.media_bytes);
  out.setDevice(opening.device);
  out.setStreamIndex(opening.stream_index.value_or(-1));
  out.setBestStream(opening.stream_choice == StreamChoice::kBest);
  out.setThreads(opening.threads);
  auto options = out.initOptions(opening.backend_options.size());
  for (size_t i = 0; i < opening.backend_options.size(); ++i) {
    options[i].setKey(opening.backend_options[i].first);
    options[i].setValue(opening.backend_options[i].second);
  }
  out.setIncarnation(opening.incarnation);
  out.setMaxFramePixels(opening.limits.frame_pixels);
  out.setMaxStreams(opening.limits.streams);
  out.setMaxPacketBytes(opening.limits.packet_bytes);
  out.setPatienceMs(static_cast<uint32_t>(opening.patience.count()));
  WriteAllowed(opening.allowed, out.initAllowed());
}

}  // namespace bulkhead::worker_protocol
