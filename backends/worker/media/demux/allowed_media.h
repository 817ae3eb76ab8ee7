// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ipc/error.h"

struct AVFormatContext;
struct AVInputFormat;
struct AVStream;

namespace bulkhead::worker::demux {

// The containers and codecs that the host allows. Immutable.
struct AllowedMedia {
  // libavformat's names of demuxers, and libavcodec's names of codecs. nullopt
  // means that all are allowed.
  std::optional<std::vector<std::string>> containers;
  std::optional<std::vector<std::string>> codecs;

  // Makes libavformat refuse demuxers and decoders that are not allowed. That
  // includes nested demuxers, and the decoders with which it probes streams.
  void Restrict(AVFormatContext& format) const;

  // Returns whether the stream may be parsed and decoded. Returns true for a
  // stream that nothing could decode: data, an attachment, or a stream whose
  // codec is not known yet.
  bool Allows(const AVStream& stream) const;

  // Both fail with kUnsupported if their argument is not allowed. The message
  // does not name the file; the application adds the name.
  ipc::Expected<void> Check(const AVInputFormat& container) const;
  ipc::Expected<void> Check(const AVStream& stream) const;
};

}  // namespace bulkhead::worker::demux
