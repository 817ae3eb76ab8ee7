// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/stream_fit.h"

#include <algorithm>

namespace bulkhead::session {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool Fits(const StreamCapability& capability, const StreamMetadata& stream) {
  // The device's limits are for pictures before they are rotated.
  const bool turned = stream.rotation % 180 != 0;
  const uint32_t width = turned ? stream.height : stream.width;
  const uint32_t height = turned ? stream.width : stream.height;
  return capability.kind == StreamKindName(stream.kind) &&
         Has(capability.codecs, stream.codec) &&
         (capability.profiles.empty() || stream.profile.empty() ||
          Has(capability.profiles, stream.profile)) &&
         (capability.max_width == 0 || width <= capability.max_width) &&
         (capability.max_height == 0 || height <= capability.max_height);
}

}  // namespace

const StreamMetadata* StreamToOpen(const ContainerMetadata& container,
                                   StreamKind kind, std::optional<int> index,
                                   StreamChoice choice) {
  if (!index && choice == StreamChoice::kBest) {
    index = kind == StreamKind::kVideo ? container.best_video_stream
                                       : container.best_audio_stream;
  }
  // A cover is opened only if its index was asked for, or if nothing else fits.
  const StreamMetadata* cover = nullptr;
  for (const StreamMetadata& stream : container.streams) {
    if (stream.kind != kind || index.value_or(stream.index) != stream.index) {
      continue;
    }
    if (index || !stream.is_cover) return &stream;
    if (cover == nullptr) cover = &stream;
  }
  return cover;
}

bool RulesOut(const DeviceCapabilities& capabilities,
              const StreamMetadata& stream) {
  const auto& streams = capabilities.streams;
  return !streams.empty() && !stream.codec.empty() &&
         std::none_of(streams.begin(), streams.end(),
                      [&](const StreamCapability& capability) {
                        return Fits(capability, stream);
                      });
}

std::string InWords(const StreamMetadata& stream) {
  std::string words = stream.codec;
  if (!stream.profile.empty()) words += " (" + stream.profile + ")";
  if (stream.width != 0) {
    words += ", " + std::to_string(stream.width) + "x" +
             std::to_string(stream.height);
  }
  return words;
}

std::string DevicesFor(const StreamMetadata& stream,
                       const std::vector<DeviceInfo>& devices) {
  std::string able;
  std::string silent;
  for (const DeviceInfo& device : devices) {
    if (RulesOut(device.capabilities, stream)) continue;
    std::string& list = device.capabilities.streams.empty() ? silent : able;
    list += (list.empty() ? "" : ", ") + device.name;
  }
  std::string words = able.empty() ? "no other device says that it decodes it"
                                   : "devices that decode it: " + able;
  if (!silent.empty()) {
    words += "; devices that have not told what they decode: " + silent;
  }
  return words;
}

}  // namespace bulkhead::session
