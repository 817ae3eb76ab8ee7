// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/device_list.h"

#include <algorithm>
#include <utility>

#include "backends/sdk/bulkhead_backend.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::zygote {
namespace {

std::string TextOf(const char* text) { return text != nullptr ? text : ""; }

// Returns FFmpeg's name of the profile, which descriptions of files use too.
std::string ProfileName(const std::string& codec, int32_t profile) {
  const AVCodecDescriptor* known =
      avcodec_descriptor_get_by_name(codec.c_str());
  const char* name =
      known != nullptr ? avcodec_profile_name(known->id, profile) : nullptr;
  return name != nullptr ? name : std::to_string(profile);
}

DeclaredStreams Copy(const bulkhead_capability& capability) {
  DeclaredStreams streams{
      .kind = capability.stream_kind,
      .codecs = {TextOf(capability.codec)},
      .max_width = static_cast<uint32_t>(std::max(capability.max_width, 0)),
      .max_height = static_cast<uint32_t>(std::max(capability.max_height, 0))};
  if (capability.profile != BULKHEAD_ALL_PROFILES) {
    streams.profiles = {ProfileName(streams.codecs[0], capability.profile)};
  }
  for (size_t i = 0; i < capability.format_count; ++i) {
    streams.formats.push_back(TextOf(capability.formats[i]));
  }
  return streams;
}

// Returns whether both are equal except for codecs and profiles.
bool AreAlike(const DeclaredStreams& a, const DeclaredStreams& b) {
  return a.kind == b.kind && a.formats == b.formats &&
         a.max_width == b.max_width && a.max_height == b.max_height;
}

// Merges entries that differ only in one of two lists, codecs and profiles:
// `same` is the list that must be equal, `differs` the list that may differ.
// The merged entry has the texts of all lists `differs`. An empty list means
// "all", so it is not merged with a list of names.
std::vector<DeclaredStreams> Merge(
    std::vector<DeclaredStreams> all,
    std::vector<std::string> DeclaredStreams::*same,
    std::vector<std::string> DeclaredStreams::*differs) {
  std::vector<DeclaredStreams> merged;
  for (DeclaredStreams& streams : all) {
    const auto like = std::find_if(
        merged.begin(), merged.end(), [&](const DeclaredStreams& earlier) {
          return AreAlike(earlier, streams) && earlier.*same == streams.*same &&
                 (earlier.*differs).empty() == (streams.*differs).empty();
        });
    if (like == merged.end()) {
      merged.push_back(std::move(streams));
    } else {
      for (std::string& text : streams.*differs) {
        ((*like).*differs).push_back(std::move(text));
      }
    }
  }
  return merged;
}

}  // namespace

EmittedDevice CopyDevice(const bulkhead_device& device) {
  const bulkhead_device taken = sdk::TakeSized(device);
  EmittedDevice copy{.name = TextOf(taken.name),
                     .description = TextOf(taken.description),
                     .streams = {},
                     .max_sessions = taken.max_sessions,
                     .outputs = taken.outputs};
  // The elements have the size that the backend was built with.
  const auto* at = reinterpret_cast<const char*>(taken.capabilities);
  for (size_t i = 0; i < taken.capability_count; ++i) {
    copy.streams.push_back(Copy(
        sdk::TakeSized(*reinterpret_cast<const bulkhead_capability*>(at))));
    at += taken.capabilities->size;
  }
  copy.streams = Merge(std::move(copy.streams), &DeclaredStreams::codecs,
                       &DeclaredStreams::profiles);
  copy.streams = Merge(std::move(copy.streams), &DeclaredStreams::profiles,
                       &DeclaredStreams::codecs);
  return copy;
}

void Write(const EmittedDevice& device, const EmittedDevice* before,
           ipc::schema::Device::Builder out) {
  const auto fill = [](const std::vector<std::string>& texts,
                       capnp::List<capnp::Text>::Builder list) {
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, texts[i]);
  };
  out.setName(device.name);
  out.setDescription(device.description);
  auto capabilities = out.initCapabilities();
  capabilities.setMaxSessions(device.max_sessions);
  capabilities.setOutputs(device.outputs);
  if (before != nullptr && before->streams == device.streams) {
    capabilities.setAsBefore(true);
    return;
  }
  auto streams = capabilities.initStreams(device.streams.size());
  for (unsigned i = 0; i < streams.size(); ++i) {
    const DeclaredStreams& declared = device.streams[i];
    streams[i].setAudio(declared.kind == BULKHEAD_STREAM_AUDIO);
    fill(declared.codecs, streams[i].initCodecs(declared.codecs.size()));
    fill(declared.profiles, streams[i].initProfiles(declared.profiles.size()));
    fill(declared.formats, streams[i].initFormats(declared.formats.size()));
    streams[i].setMaxWidth(declared.max_width);
    streams[i].setMaxHeight(declared.max_height);
  }
}

}  // namespace bulkhead::worker::zygote
