// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/health/known_clip.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/discovery/own_clips.h"
#include "core/supervisor/health/built_in_clip.h"

namespace bulkhead::health {
namespace {

using discovery::StreamKind;

constexpr const char* kBuiltInTitle = "Bulkhead's built-in clip";

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns whether the device may decode videos of the codec.
bool MayDecode(const discovery::Manifest& manifest,
               const DeviceCapabilities& capabilities,
               const std::string& codec) {
  if (capabilities.streams.empty()) {
    return manifest.codecs.empty() || Contains(manifest.codecs, codec);
  }
  return std::any_of(capabilities.streams.begin(), capabilities.streams.end(),
                     [&](const StreamCapability& stream) {
                       return stream.kind == NameOf(StreamKind::kVideo) &&
                              Contains(stream.codecs, codec);
                     });
}

void AddReason(const std::string& reason, std::string& reasons) {
  reasons += (reasons.empty() ? "" : ", and ") + reason;
}

}  // namespace

KnownClip BuiltInVideo() {
  const auto bytes = BuiltInClipBytes();
  return {.title = kBuiltInTitle,
          .file_name = kBuiltInClipName,
          .media = std::string(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size()),
          .picture_md5s = BuiltInClipMd5s(),
          .reference = "cpu"};
}

KnownClip BuiltInSound() {
  return {.title = kBuiltInTitle,
          .file_name = kBuiltInSoundName,
          .media = BuiltInSoundBytes()};
}

KnownClips ClipsFor(const discovery::BackendCandidate& candidate,
                    const DeviceCapabilities& capabilities) {
  const discovery::Manifest& manifest = candidate.manifest;
  KnownClips check;
  if (!manifest.streams.contains(StreamKind::kVideo)) {
    check.clips.push_back(BuiltInSound());
    return check;
  }
  if (MayDecode(manifest, capabilities, kBuiltInClipCodec)) {
    check.clips.push_back(BuiltInVideo());
  } else {
    AddReason(std::string("it does not decode ") + kBuiltInClipCodec +
                  ", the codec of " + kBuiltInTitle,
              check.left_out);
  }
  for (const discovery::OwnClip& own : candidate.own_clips) {
    auto media = discovery::ReadOwnClip(candidate.directory, own);
    if (!media) {
      AddReason("its own clip cannot be used: " + media.error().message(),
                check.left_out);
      continue;
    }
    KnownClip clip{.title = "its own clip " + Quoted(own.path),
                   .file_name = own.path.substr(own.path.rfind('/') + 1),
                   .media = *std::move(media),
                   .reference = "bulkhead.toml",
                   .must_be_supported = true};
    for (const std::string& md5 : own.picture_md5s) {
      clip.picture_md5s.push_back({md5});
    }
    check.clips.push_back(std::move(clip));
  }
  return check;
}

}  // namespace bulkhead::health
