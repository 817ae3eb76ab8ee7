// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/device_capabilities.h"

namespace bulkhead::health {

// A clip that a backend decodes to prove that it works, and what has to come
// of it. bulkheadd never looks into the media: a worker of the backend does.
struct KnownClip {
  std::string title;      // for people
  std::string file_name;  // from which the worker chooses a demuxer
  std::string media;
  // For each picture, from the first on, the MD5s of its RGB24 pixels that are
  // right. None: the built-in sound.
  std::vector<std::vector<std::string>> picture_md5s = {};
  // Who says so, for people: "cpu", "bulkhead.toml".
  std::string reference = {};
  // False if a backend may answer that it does not support the clip's codec.
  bool must_be_supported = false;
};

KnownClip BuiltInVideo();
KnownClip BuiltInSound();

// The clips for one health check.
struct KnownClips {
  std::vector<KnownClip> clips;
  // Why clips are missing from the list, as a clause; empty if none is.
  std::string left_out;
};

// Returns the built-in clip, unless `capabilities` of the device or, where it
// declares none, the manifest exclude its codec; and the clips that the backend
// brings, read from disk. One kind of stream is enough, since the same object
// decodes all: a backend that decodes audio alone gets the built-in sound.
KnownClips ClipsFor(const discovery::BackendCandidate& candidate,
                    const DeviceCapabilities& capabilities);

}  // namespace bulkhead::health
