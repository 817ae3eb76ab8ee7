// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bulkhead {

// The containers and codecs that may be parsed and decoded. Meant for a service
// that takes files from strangers: the demuxers and decoders that are not
// listed never run, however the file is made. HostOptions::allowed holds for
// all streams of a Host. The member `allowed` of VideoOptions, AudioOptions and
// ProbeOptions narrows it further, so a name has to be in both.
//
//     auto host = *Host::Create({.allowed = AllowedMedia::Web()});
//     auto video = host->OpenVideo(upload, {.allowed = {.codecs =
//     {{"h264"}}}});
//
// Names are FFmpeg's, as Host::Probe reports them. A container has the names of
// its demuxer, each of which stands for all ("mp4" for "mov" too, "webm" for
// "matroska" too). A codec has the name of the codec ("av1"), not of a decoder.
// Case does not matter.
//
// A file in another container is refused with kUnsupported; the message names
// the container. This happens before its demuxer runs, as soon as FFmpeg has
// recognised the container by the first bytes. (To recognise it, FFmpeg runs
// the short probe functions of all containers on these bytes.)
//
// A stream of another codec is neither parsed nor decoded, not even while the
// streams are probed. Opening it fails with kUnsupported (the message names the
// codec), and no decoder of any backend is opened for it. The other streams of
// the file can be used, and Host::Probe describes every stream from the
// container's header alone. FLV and MPEG-PS may have a stream that no header
// announces, only its packets: if the codec of such a stream is not listed, the
// whole file is refused. To find such a stream before a parser runs, the first
// 5 MB are read once more when codecs are listed.
//
// A file that a playlist or an external track refers to is never opened,
// whatever the lists allow.
//
// Trust: Bulkhead's own code enforces the lists in the sandboxed worker, which
// has them before it reads a byte of the file. The host compares the container
// and codec that the worker reports with the same lists, and ends a worker that
// opened another one.
struct AllowedMedia {
  // nullopt allows everything, an empty list nothing. A list has at most 256
  // names, with 2048 characters in total. A name has up to 64 letters, digits
  // and "_", "-", "+", ".".
  std::optional<std::vector<std::string>> containers = {};
  std::optional<std::vector<std::string>> codecs = {};

  // Allows everything that the installed FFmpeg and the backends know.
  static AllowedMedia All() { return {}; }
  // Returns the media that today's browsers play: MP4 and MOV, WebM and
  // Matroska, Ogg, MP3, WAV, FLAC and ADTS; H.264, HEVC, VP8, VP9 and AV1; AAC,
  // MP3, Opus, Vorbis, FLAC, and the PCM formats of WAV. Leaves out Theora,
  // which browsers have given up, and still pictures, so also album covers.
  static AllowedMedia Web();
};

}  // namespace bulkhead
