// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bulkhead {

// The containers and codecs that may be parsed and decoded, for a service that
// takes files from strangers: what is not listed never runs, however the file
// is made. HostOptions has one for all streams of a Host; VideoOptions,
// AudioOptions and ProbeOptions have one that narrows it further, so a name has
// to be in both.
//
//     auto host = *Host::Create({.allowed = AllowedMedia::Web()});
//     auto video = host->OpenVideo(upload, {.allowed = {.codecs =
//     {{"h264"}}}});
//
// Names are FFmpeg's, as Host::Probe reports them: a container by any
// name of its demuxer ("mp4" and "mov" are one, "matroska" and "webm" another),
// a codec by the name of the codec ("av1"), whichever decoder decodes it. Case
// does not matter.
//
// A file in another container is refused with kUnsupported, which names it, as
// soon as FFmpeg knows the container by the first bytes, before its demuxer
// runs. (Telling goes through the probes of all containers.)
//
// A stream of another codec is neither parsed nor decoded, also not while the
// streams are probed, and to open it is kUnsupported, which names the codec; no
// decoder of any backend is opened for it. The other streams of the file can be
// used, and Host::Probe describes all, from what the container says alone. A
// stream of another codec that shows itself only among the packets, as in
// FLV and MPEG-PS, refuses the whole file. To find it before a parser runs,
// the first 5 MB are read once more when codecs are listed.
//
// Lists do not lead to further files: a file that is referred to by another, by
// a playlist or as an external track, is never opened, whatever is allowed.
//
// Trust: the lists are enforced in the sandbox by Bulkhead's own code, which
// has not read a byte of the file before. The host checks what the worker
// reports against the same lists, and ends a worker that opened anything else.
struct AllowedMedia {
  // nullopt: all. An empty list allows nothing. At most 256 names of up to 64
  // letters, digits and "_", "-", "+", ".", and of 2048 together.
  std::optional<std::vector<std::string>> containers = {};
  std::optional<std::vector<std::string>> codecs = {};

  // Allows everything that the installed FFmpeg and the backends know.
  static AllowedMedia All() { return {}; }
  // Returns the media that today's browsers play: MP4 and MOV, WebM and
  // Matroska, Ogg, MP3, WAV, FLAC and ADTS; H.264, HEVC, VP8, VP9 and AV1; AAC,
  // MP3, Opus, Vorbis, FLAC, and the PCM that WAV has. Not Theora, which
  // browsers have given up, and no pictures, so no covers either.
  static AllowedMedia Web();
};

}  // namespace bulkhead
