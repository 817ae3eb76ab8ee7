// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/soak_media.h"

#include <algorithm>
#include <iterator>

#include "tests/media/generated_clips.h"
#include "tests/media/sample_files.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

constexpr const char* kNames[] = {
    "derived__av1_filmgrain_10bit.mp4",
    "derived__jittery_pts.mkv",
    "derived__mjpeg_avi.avi",
    "derived__no_first_keyframe.mkv",
    "format-corpus__apple-prores-422-proxy.mov",
    "format-corpus__photo-jpeg.mov",
    "libopenshot__test1.mp4",
    "libwebm__bbb_480p_vp9_opus_1second.webm",
    "media__bbb_176x144_128kbps_15fps_h263.3gp",
    "media__bbb_176x144_192kbps_15fps_mpeg4.mp4",
    "media__bear-vp9-odd-dimensions.webm",
    "media__sample.avi",
    "media__sample_edit_list_only_preroll_sync_sample.mp4",
    "media__sample_h264.ts",
    "media__sample_h265.ts",
    "mp4ff__av1.ivf",
    "mp4ff__vp8.ivf",
    "mux.js__test-middle-pat-pmt.ts",
    "mux.js__test-segment.ts",
    "openh264__BA_MW_D_IDR_LOST.264",
    "pitivi__one_fps_numeroted_blue.mkv",
    "rails__video_with_undefined_display_aspect_ratio.mp4",
    "streamio-ffmpeg__weird_aspect.small.mpg",
    "tika__testFLV.flv",
    "tika__testWEBM.webm",
    "torchcodec__discard_first_keyframe.mp4",
    "torchcodec__h264_10bits.mp4",
    "torchcodec__h265_10bits.mp4",
    "torchcodec__nasa_13013_rotated.mp4",
    "torchcodec__sine_stereo_mp2.mpg",
    "torchcodec__test_non_zero_start.mp4",
    "torchcodec__testsrc2_444_12bit_hevc.mp4",
    "torchcodec__testsrc2_av1_10bit.mp4",
    "torchcodec__testsrc2_odd_height_and_width_444.mp4",
    "torchcodec__testsrc2_odd_height_and_width_mpeg2.mp4",
    "torchcodec__testsrc2_odd_width_vp9_10bit.mp4",
};

std::vector<SoakFile> Find() {
  std::vector<SoakFile> files;
  for (const SampleFile& sample : MediaFiles()) {
    if (std::find(std::begin(kNames), std::end(kNames), sample.name) !=
        std::end(kNames)) {
      files.push_back({.name = sample.name, .path = sample.path});
    }
  }
  if (!files.empty()) return files;
  for (const Clip clip : AllClips()) {
    if (const auto path = Generate(clip)) {
      files.push_back({.name = ClipName(clip), .path = *path});
    }
  }
  return files;
}

}  // namespace

std::vector<SoakFile> SoakFiles(Host& host, const std::string& device) {
  std::vector<SoakFile> files = Find();
  for (SoakFile& file : files) {
    VideoDecoder video =
        host.OpenVideo(file.path,
                       {.device = device, .on_corrupt = OnCorrupt::kSkip})
            .value();
    while (const auto frame = video.Next().value()) {
      file.frames.push_back(HashOf(*frame));
    }
    file.indexed = video.FrameCount().value() == file.frames.size();
    for (size_t i = 0; file.indexed && i < file.frames.size(); ++i) {
      const auto frame = video.FrameAt(static_cast<int64_t>(i));
      file.indexed = frame && HashOf(*frame) == file.frames[i];
    }
  }
  return files;
}

}  // namespace bulkhead::tests
