// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ipc/error.h"

struct AVFormatContext;
struct AVInputFormat;
struct AVStream;

namespace bulkhead::worker {

// The containers and codecs that the host allows, and how libavformat is kept
// to them. Immutable.
struct AllowedMedia {
  // Names of demuxers and of codecs. nullopt: all are allowed.
  std::optional<std::vector<std::string>> containers;
  std::optional<std::vector<std::string>> codecs;

  // Has libavformat refuse other demuxers, also nested ones, and other decoders
  // while it probes streams.
  void Restrict(AVFormatContext& format) const;

  // Returns true for a stream that may be parsed and decoded, or that nothing
  // could decode: data, attachments, and what has no codec yet.
  bool Allows(const AVStream& stream) const;

  // Fail with kUnsupported for what is not allowed. The application names the
  // file.
  ipc::Expected<void> Check(const AVInputFormat& container) const;
  ipc::Expected<void> Check(const AVStream& stream) const;
};

}  // namespace bulkhead::worker
