// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/conformance/kept_files.h"

namespace bulkhead::cli {

// A file with one video stream and what the ffmpeg program, which shares no
// code with a backend that is under test, says of its frames.
struct ReferenceClip {
  struct Frame {
    std::optional<int64_t> pts;  // in ticks of the stream's time base
    std::string md5;  // of the picture as packed RGB, of 16 bits if `deep`
  };

  std::string name;  // "h264", or the name of the file
  std::string codec;
  std::string pixel_format;
  std::string path;
  // Differs from the identity of each other clip.
  std::string identity;
  bool made = false;  // by MakeClip; no file of --media
  // The components have more than 8 bits. Frames are then compared as float32,
  // which is 16 bits of ffmpeg's RGB.
  bool deep = false;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Frame> frames;
};

// Reads the frames of a file with the ffmpeg program, whose answers are kept.
// Returns kNotFound, with the package to install, if there is no such program,
// and kBadInput if it cannot read the file.
Result<ReferenceClip> ReadReference(const std::string& path,
                                    const std::string& name,
                                    const KeptFiles& kept);

// A clip that MakeClip can make.
struct ClipName {
  std::string name;  // the codec's, for its plainest clip; "vp9 of 10 bits"
  std::string codec;
};
std::vector<ClipName> NamesOfClips();
// Makes a small clip, unless it is kept, with frames that refer to each other
// and several keyframes where the codec has such. Errors as of ReadReference;
// kUnsupported if this ffmpeg has no encoder for it.
Result<ReferenceClip> MakeClip(const std::string& name, const KeptFiles& kept);

// Makes a plain clip of a codec with three pictures of another size. Errors as
// of MakeClip.
Result<ReferenceClip> MakeClipOfSize(const std::string& codec, uint32_t width,
                                     uint32_t height, const KeptFiles& kept);
// Returns the pixel format of which MakeClip makes a clip; an empty text if
// there is no such clip.
std::string PixelFormatOf(const std::string& name);

enum class Fields {
  // Those that the codec's own bitstream or the packets have.
  kCertain,
  // Those of the colours too, for frames whose pictures are wrong: one that is
  // neither unknown nor what ffprobe prints is then the cause.
  kColors,
};

// Returns the fields of bulkhead_frame that ffprobe prints of all frames of a
// clip alike, as words "color_space=1|2" for what is allowed, with a space
// before each. Errors as of ReadReference.
Result<std::string> ReadFields(const ReferenceClip& clip, Fields which,
                               const KeptFiles& kept);

// A file of sound and the samples that ffmpeg decodes from it: the numbers of
// all channels, sample by sample.
struct ReferenceSound {
  std::string path;
  std::vector<float> samples;
};
// Makes a second of sound with an encoder of ffmpeg, in a file of this name,
// unless it is kept. Errors as of MakeClip.
Result<ReferenceSound> MakeSound(const std::string& encoder,
                                 const std::string& file,
                                 const KeptFiles& kept);

}  // namespace bulkhead::cli
