// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/transform.h"

#include <string>
#include <utility>

extern "C" {
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker::convert {
namespace {

int SwsFlags(Resize::Filter filter) {
  constexpr int kQuality =
      SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_ACCURATE_RND;
  switch (filter) {
    case Resize::Filter::kNearest:
      return SWS_POINT | kQuality;
    case Resize::Filter::kBicubic:
      return SWS_BICUBIC | kQuality;
    case Resize::Filter::kArea:
      return SWS_AREA | kQuality;
    case Resize::Filter::kLanczos:
      return SWS_LANCZOS | kQuality;
    case Resize::Filter::kBilinear:
      break;
  }
  return SWS_BILINEAR | kQuality;
}

std::string Text(PictureSize size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

uint32_t Drawn(uint32_t fraction, uint32_t slack) {
  return static_cast<uint32_t>((uint64_t{fraction} * (uint64_t{slack} + 1)) >>
                               32);
}

// Returns where a crop begins, as the command line writes it; empty unless the
// caller chose the place.
std::string PlaceText(const Transform& transform) {
  const auto* crop = std::get_if<Crop>(&transform);
  if (crop == nullptr) return "";
  return "+" + std::to_string(crop->left) + "+" + std::to_string(crop->top);
}

PictureSize SizeOf(const Transform& transform) {
  return std::visit([](const auto& any) { return any.size; }, transform);
}

// Returns the place of a crop. `slack` is the difference between the sizes of
// the picture and of the crop.
Crop PlaceOf(const Transform& transform, PictureSize slack) {
  if (const auto* center = std::get_if<CenterCrop>(&transform)) {
    return {center->size, slack.width / 2, slack.height / 2};
  }
  if (const auto* drawn = std::get_if<DrawnCrop>(&transform)) {
    return {drawn->size, Drawn(drawn->across, slack.width),
            Drawn(drawn->down, slack.height)};
  }
  return std::get<Crop>(transform);
}

Picture Cut(const Picture& source, const Crop& crop) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(source.format);
  Picture cut = source;
  cut.width = static_cast<int>(crop.size.width);
  cut.height = static_cast<int>(crop.size.height);
  cut.data[0] += static_cast<ptrdiff_t>(crop.top) * source.stride[0] +
                 static_cast<ptrdiff_t>(crop.left) * format->comp[0].step;
  return cut;
}

}  // namespace

TransformChain::TransformChain(std::vector<Transform> transforms)
    : transforms_(std::move(transforms)) {}

TransformChain::~TransformChain() = default;

ipc::Expected<PictureSize> TransformChain::Fit(PictureSize size,
                                               uint64_t max_pixels) {
  steps_.clear();
  for (const Transform& transform : transforms_) {
    const PictureSize wanted = SizeOf(transform);
    if (wanted.width == 0 || wanted.height == 0) {
      return ipc::Fail(
          ipc::Code::kInvalidArgument,
          "a transform to " + Text(wanted) + " pixels leaves no picture");
    }
    Step& step = steps_.emplace_back();
    if (const auto* resize = std::get_if<Resize>(&transform)) {
      if (max_pixels != 0 &&
          uint64_t{wanted.width} * wanted.height > max_pixels) {
        return ipc::Fail(ipc::Code::kResourceExhausted,
                         "pictures resized to " + Text(wanted) +
                             " exceed the limit of " +
                             std::to_string(max_pixels) + " pixels; raise " +
                             ipc::LimitName("frame_pixels"));
      }
      step.resizes = true;
      step.resize = *resize;
    } else {
      const bool fits =
          wanted.width <= size.width && wanted.height <= size.height;
      if (fits) {
        step.crop = PlaceOf(transform, {size.width - wanted.width,
                                        size.height - wanted.height});
      }
      if (!fits || step.crop.left > size.width - wanted.width ||
          step.crop.top > size.height - wanted.height) {
        return ipc::Fail(ipc::Code::kInvalidArgument,
                         "the crop " + Text(wanted) + PlaceText(transform) +
                             " (--crop) reaches beyond its picture of " +
                             Text(size) + "; crop less or resize first");
      }
    }
    size = wanted;
  }
  return size;
}

ipc::Expected<void> TransformChain::MakeScaler(const Picture& source,
                                               Step& step) {
  const Picture target = {.format = source.format,
                          .width = static_cast<int>(step.resize.size.width),
                          .height = static_cast<int>(step.resize.size.height)};
  step.scaler = AllocateScaler(source, target, SwsFlags(step.resize.filter));
  if (step.scaler == nullptr) {
    return ipc::Fail(ipc::Code::kResourceExhausted,
                     "no memory to resize a picture");
  }
  if (sws_init_context(step.scaler.get(), nullptr, nullptr) < 0) {
    step.scaler.reset();
    return ipc::Fail(ipc::Code::kUnsupported,
                     "a picture of " + std::to_string(source.width) + "x" +
                         std::to_string(source.height) +
                         " cannot be resized to " + Text(step.resize.size));
  }
  return {};
}

ipc::Expected<Picture> TransformChain::Apply(const Picture& source) {
  Picture picture = source;
  for (Step& step : steps_) {
    if (!step.resizes) {
      picture = Cut(picture, step.crop);
      continue;
    }
    const int width = static_cast<int>(step.resize.size.width);
    const int height = static_cast<int>(step.resize.size.height);
    if (picture.width == width && picture.height == height) continue;
    if (step.scaler == nullptr) {
      IPC_TRY(MakeScaler(picture, step));
    }
    const Picture* resized = step.scratch.Get(picture.format, width, height);
    if (resized == nullptr) {
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "no memory to resize a picture");
    }
    if (sws_scale(step.scaler.get(), picture.data, picture.stride, 0,
                  picture.height, resized->data, resized->stride) < 0) {
      return ipc::Fail(ipc::Code::kBadInput, "a picture failed to resize");
    }
    picture = *resized;
  }
  return picture;
}

}  // namespace bulkhead::worker::convert
