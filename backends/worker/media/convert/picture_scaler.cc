// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/picture_scaler.h"

#include <string>

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include "ipc/try.h"

namespace bulkhead::worker::convert {
namespace {

// Returns swscale's coefficients. swscale knows the matrices up to BT.2020, and
// ffmpeg treats all others like BT.601.
const int* MatrixOf(int color_space) {
  if (color_space < 1 || color_space > 10 || color_space == AVCOL_SPC_YCGCO) {
    color_space = AVCOL_SPC_BT470BG;
  }
  return sws_getCoefficients(color_space);
}

tl::unexpected<ipc::Error> ShortOfMemory() {
  return ipc::Fail(ipc::Code::kResourceExhausted,
                   "no memory to convert a picture");
}

std::string NameOf(const Picture& target) {
  const bool rgb =
      target.format == AV_PIX_FMT_RGB24 || target.format == AV_PIX_FMT_RGB48;
  return rgb ? "RGB"
             : std::to_string(target.width) + "x" +
                   std::to_string(target.height) + " pixels of " +
                   av_get_pix_fmt_name(target.format);
}

}  // namespace

void PictureScaler::Reset() {
  context_.reset();
  range_ = AVCOL_RANGE_UNSPECIFIED;
}

ipc::Expected<void> PictureScaler::MakeScaler(const Picture& source,
                                              const Picture& target,
                                              int color_range) {
  context_ = AllocateScaler(source, target, SWS_BICUBIC);
  if (context_ == nullptr) return ShortOfMemory();
  SwsContext* context = context_.get();
  if (color_range != AVCOL_RANGE_UNSPECIFIED) {
    av_opt_set_int(context, "src_range", color_range == AVCOL_RANGE_JPEG, 0);
  }
  // ffmpeg's scale filter sets the chroma position only for YUV420P: half way
  // between two rows of luma. It ignores the position that the stream declares,
  // and so must this code.
  if (source.format == AV_PIX_FMT_YUV420P) {
    av_opt_set_int(context, "src_v_chr_pos", 128, 0);
  }
  if (target.format == AV_PIX_FMT_YUV420P) {
    av_opt_set_int(context, "dst_v_chr_pos", 128, 0);
  }
  if (sws_init_context(context, nullptr, nullptr) < 0) {
    context_.reset();
    // The result does not say whether memory was short.
    if (sws_isSupportedInput(source.format) > 0 &&
        sws_isSupportedOutput(target.format) > 0) {
      return ShortOfMemory();
    }
    return ipc::Fail(ipc::Code::kUnsupported,
                     std::string("a picture in the format ") +
                         av_get_pix_fmt_name(source.format) +
                         " cannot be converted to " + NameOf(target));
  }
  return {};
}

ipc::Expected<void> PictureScaler::Scale(const bulkhead_frame& frame,
                                         const Picture& source,
                                         const Picture& target) {
  if (source.format == target.format && source.width == target.width &&
      source.height == target.height) {
    CopyPlanes(source, target);
    return {};
  }
  const int range = frame.color_range;
  const bool range_changed =
      range != AVCOL_RANGE_UNSPECIFIED && range != range_;
  if (context_ == nullptr || range_changed) {
    if (range_changed) range_ = range;
    IPC_TRY(MakeScaler(source, target, range_));
  }

  // Sets the frame's colour matrix and range, and keeps all other details.
  int* unused_table;
  int source_range, target_range, brightness, contrast, saturation;
  sws_getColorspaceDetails(context_.get(), &unused_table, &source_range,
                           &unused_table, &target_range, &brightness, &contrast,
                           &saturation);
  if (range != AVCOL_RANGE_UNSPECIFIED)
    source_range = range == AVCOL_RANGE_JPEG;
  const int* matrix = MatrixOf(frame.color_space);
  sws_setColorspaceDetails(context_.get(), matrix, source_range, matrix,
                           target_range, brightness, contrast, saturation);
  if (sws_scale(context_.get(), source.data, source.stride, 0, source.height,
                target.data, target.stride) < 0) {
    return ipc::Fail(ipc::Code::kBadInput, "a picture failed to convert");
  }
  return {};
}

}  // namespace bulkhead::worker::convert
