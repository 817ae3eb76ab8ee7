// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/observed_exit.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/control/exit_messages.h"

namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;

void Write(const Crash::Input& input, schema::SessionInput::Builder out) {
  out.setPath(input.path);
  out.setBytes(input.bytes);
  out.setModifiedNs(input.modified_ns);
  out.setDevice(input.device);
  out.setInode(input.inode);
}

template <typename Asked>
void WriteTransform(const Asked& asked, schema::AskedTransform::Builder out) {
  using Kind = schema::AskedTransform::Kind;
  out.setWidth(asked.width);
  out.setHeight(asked.height);
  if constexpr (std::is_same_v<Asked, Resize>) {
    out.setKind(Kind::RESIZE);
    out.setFilter(static_cast<uint8_t>(asked.filter));
  } else if constexpr (std::is_same_v<Asked, CenterCrop>) {
    out.setKind(Kind::CENTER_CROP);
  } else if constexpr (std::is_same_v<Asked, Crop>) {
    out.setKind(Kind::CROP);
    out.setTop(asked.top);
    out.setLeft(asked.left);
  } else {
    out.setKind(Kind::RANDOM_CROP);
    out.setSeed(asked.seed);
  }
}

void Write(const Crash::Request& request, schema::SessionRequest::Builder out) {
  out.setKind(static_cast<schema::SessionRequest::Kind>(request.kind));
  out.setFrame(request.frame);
  out.setStreamIndex(request.stream_index.value_or(-1));
  out.setBestStream(request.stream_choice == StreamChoice::kBest);
  out.setThreads(request.threads);
  auto options = out.initOptions(request.backend_options.size());
  for (size_t i = 0; i < request.backend_options.size(); ++i) {
    options[i].setKey(request.backend_options[i].first);
    options[i].setValue(request.backend_options[i].second);
  }
  out.setComplete(request.complete);
  out.setDeadlineMs(request.deadline_ms);
  out.setOnCorrupt(static_cast<uint8_t>(request.on_corrupt));
  out.setAudio(request.audio);
  out.setSampleRate(static_cast<uint32_t>(request.sample_rate.value_or(0)));
  out.setChannelCount(static_cast<uint32_t>(request.num_channels.value_or(0)));
  out.setDtype(static_cast<uint8_t>(request.output_dtype));
  auto transforms = out.initTransforms(request.transforms.size());
  for (size_t i = 0; i < request.transforms.size(); ++i) {
    auto transform = transforms[i];
    std::visit([&](const auto& asked) { WriteTransform(asked, transform); },
               request.transforms[i]);
  }
}

void SetBackendOptions(
    const std::vector<std::pair<std::string, std::string>>& options,
    Crash::Request& request) {
  size_t bytes = 0;
  for (const auto& [key, value] : options) bytes += key.size() + value.size();
  request.complete = bytes <= kMaxOptionBytes;
  if (request.complete) request.backend_options = options;
}

}  // namespace

void SetOptions(const VideoOptions& options, Crash::Request& request) {
  request.stream_index = options.stream_index;
  request.stream_choice = options.stream_choice;
  request.threads = options.threads;
  request.on_corrupt = options.on_corrupt;
  request.output_dtype = options.output_dtype;
  SetBackendOptions(options.backend_options, request);
  request.complete &= options.transforms.size() <= kMaxTransforms;
  if (request.complete) request.transforms = options.transforms;
}

void SetOptions(const AudioOptions& options, Crash::Request& request) {
  request.audio = true;
  request.stream_index = options.stream_index;
  request.stream_choice = options.stream_choice;
  request.sample_rate = options.sample_rate;
  request.num_channels = options.num_channels;
  request.on_corrupt = options.on_corrupt;
  SetBackendOptions(options.backend_options, request);
}

void Write(const ObservedExit& seen, schema::SessionEnd::Builder out) {
  out.setSeen(static_cast<schema::SessionEnd::Seen>(seen.how));
  out.setMetMedia(seen.met_media);
  Write(seen.position, out.initPosition());
  out.setPositionText(seen.position_text);
  out.setAttempt(seen.attempt);
  out.setCause(seen.cause);
  out.setClaimsCause(seen.claims_cause);
  Write(seen.input, out.initInput());
  Write(seen.request, out.initRequest());
  out.setLastMessage(seen.last_message);
}

}  // namespace bulkhead::supervisor_link
