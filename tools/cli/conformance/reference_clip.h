// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::cli {

// A file with one video stream and what the ffmpeg program, which shares no
// code with a backend that is under test, says of its frames.
struct ReferenceClip {
  struct Frame {
    std::optional<int64_t> pts;  // in ticks of the stream's time base
    std::string md5;             // of the picture as packed RGB
  };

  std::string name;  // "h264", or the name of the file
  std::string codec;
  std::string pixel_format;  // of a clip that was made
  std::string path;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Frame> frames;
};

// Reads the frames of a file with the ffmpeg program. `scratch` is a directory
// for temporary files. Returns kNotFound, with the package to install, if there
// is no such program, and kBadInput if it cannot read the file.
Result<ReferenceClip> ReadReference(const std::string& path,
                                    const std::string& name,
                                    const std::string& scratch);

// A clip that MakeClip can make.
struct ClipName {
  std::string
      name;  // that of the codec, for its plainest clip; "vp9 of 10 bits"
  std::string codec;
};
std::vector<ClipName> NamesOfClips();
// Makes a small clip in `scratch`, with frames that refer to each other and
// several keyframes where the codec has such. Errors as of ReadReference;
// kUnsupported if this ffmpeg has no encoder for it.
Result<ReferenceClip> MakeClip(const std::string& name,
                               const std::string& scratch);

// Makes a plain clip of a codec with three pictures of another size. Errors as
// of MakeClip.
Result<ReferenceClip> MakeClipOfSize(const std::string& codec, uint32_t width,
                                     uint32_t height,
                                     const std::string& scratch);
// Returns the pixel format of which MakeClip makes a clip; an empty text if
// there is no such clip.
std::string PixelFormatOf(const std::string& name);

// Returns the fields of bulkhead_frame that ffprobe tells of all frames of a
// clip alike, as words "color_space=1", with a space before each. Only those
// that the codec's own bitstream or the packets tell. Errors as of
// ReadReference.
Result<std::string> ReadFields(const ReferenceClip& clip,
                               const std::string& scratch);

// Makes a second of sound with an encoder of ffmpeg, and returns the samples
// that ffmpeg decodes from it: the numbers of all channels, sample by sample.
// Errors as of MakeClip.
Result<std::vector<float>> MakeSound(const std::string& encoder,
                                     const std::string& path);

}  // namespace bulkhead::cli
