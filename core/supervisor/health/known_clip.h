// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/device_capabilities.h"

namespace bulkhead::health {

// A clip that a backend decodes to prove that it works, and the pictures that
// are expected. bulkheadd never parses the media: a worker of the backend does.
struct KnownClip {
  std::string title;      // for people
  std::string file_name;  // the worker chooses a demuxer by this name
  std::string media;      // the bytes of the file
  // For each picture, from the first on, the correct MD5s of its RGB24 pixels.
  // Empty for the built-in sound.
  std::vector<std::vector<std::string>> picture_md5s = {};
  // The source of the MD5s, for people: "cpu", "bulkhead.toml".
  std::string reference = {};
  // False if a backend may answer that it does not support the clip's codec.
  bool must_be_supported = false;
};

KnownClip BuiltInVideo();
KnownClip BuiltInSound();

// The clips for one health check.
struct KnownClips {
  std::vector<KnownClip> clips;
  // The reason why clips are missing from the list, as a clause; empty if none
  // is missing.
  std::string left_out;
};

// Returns the clips for a health check of a device. One kind of stream is
// enough, since the same object decodes all kinds:
// - A backend that decodes audio alone gets the built-in sound.
// - Any other gets the clips that it brings, read from disk, and the built-in
//   clip. The latter is left out if the device's `capabilities` exclude its
//   codec, or, for a device that declares none, the manifest does.
KnownClips ClipsFor(const discovery::BackendCandidate& candidate,
                    const DeviceCapabilities& capabilities);

}  // namespace bulkhead::health
