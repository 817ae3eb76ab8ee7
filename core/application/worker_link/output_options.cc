// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/output_options.h"

#include <optional>
#include <string>

#include "core/base/random.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMostTransforms = 64;
constexpr size_t kWordsPerTransform = 8;
constexpr size_t kWordsOfFormat = 16;  // with the name of a pixel format

struct Size {
  uint32_t width;
  uint32_t height;
};

Size SizeOf(const Transform& transform) {
  return std::visit(
      [](const auto& any) {
        return Size{any.width, any.height};
      },
      transform);
}

void WriteTransform(const Resize& resize, schema::Transform::Builder out) {
  out.setResize(static_cast<schema::Transform::Filter>(resize.filter));
}
void WriteTransform(const CenterCrop&, schema::Transform::Builder out) {
  out.setCenterCrop();
}
void WriteTransform(const Crop& crop, schema::Transform::Builder out) {
  auto place = out.initCrop();
  place.setLeft(crop.left);
  place.setTop(crop.top);
}
void WriteTransform(const RandomCrop& crop, schema::Transform::Builder out) {
  const uint64_t drawn = Random(crop.seed).Bits();
  auto place = out.initDrawnCrop();
  place.setAcross(static_cast<uint32_t>(drawn >> 32));
  place.setDown(static_cast<uint32_t>(drawn));
}

// Returns the element type that was asked for, or nullopt if the worker chooses
// it by the depth of the pictures.
std::optional<Dtype> WantedDtype(const VideoOptions& options) {
  switch (options.output_dtype) {
    case OutputDtype::kUint8:
      return Dtype::kUint8;
    case OutputDtype::kFloat32:
      return Dtype::kFloat32;
    case OutputDtype::kAuto:
      break;
  }
  return std::nullopt;
}

schema::ElementType Wire(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? schema::ElementType::FLOAT32
                                  : schema::ElementType::UINT8;
}

// Checks that no option for RGB is combined with native frames.
Status ValidateNative(const VideoOptions& options) {
  if (!options.transforms.empty()) {
    return Status(Code::kInvalidArgument,
                  "native frames are delivered as the decoder made them, "
                  "without transforms; leave the transforms (--resize, --crop) "
                  "out, or ask for RGB (OutputFormat::kRgb, "
                  "output_format=\"rgb\", --pixel-format rgb24)");
  }
  if (options.output_dtype != OutputDtype::kUint8) {
    return Status(Code::kInvalidArgument,
                  "native frames have the numbers that the decoder made; leave "
                  "output_dtype (--dtype) out, or ask for RGB "
                  "(OutputFormat::kRgb, output_format=\"rgb\", --pixel-format "
                  "rgb24)");
  }
  return Status();
}

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

}  // namespace

ipc::ElementType ElementOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? ipc::ElementType::kFloat32
                                  : ipc::ElementType::kUint8;
}

Status ValidateOutput(const VideoOptions& options, const Limits& limits) {
  if (!options.autoscale && !options.transforms.empty()) {
    return Status(Code::kInvalidArgument,
                  "without autoscale every frame keeps its own size, and "
                  "transforms give all the same; leave out the transforms "
                  "(--resize, --crop), or leave autoscale on "
                  "(--no-autoscale)");
  }
  if (options.output_format == OutputFormat::kNative) {
    return ValidateNative(options);
  }
  if (options.transforms.size() > kMostTransforms) {
    return Status(Code::kInvalidArgument, "there are more than " +
                                              std::to_string(kMostTransforms) +
                                              " transforms");
  }
  for (const Transform& transform : options.transforms) {
    const Size size = SizeOf(transform);
    if (size.width == 0 || size.height == 0) {
      return Status(Code::kInvalidArgument,
                    "a transform to " + std::to_string(size.width) + "x" +
                        std::to_string(size.height) +
                        " pixels leaves no picture; width and height are "
                        "positive");
    }
    if (size.width > limits.frame_pixels / size.height) {
      return Status(Code::kResourceExhausted,
                    "a transform to " + std::to_string(size.width) + "x" +
                        std::to_string(size.height) +
                        " (--resize, --crop) is larger than the limit of " +
                        std::to_string(limits.frame_pixels) +
                        " pixels; raise " + ipc::LimitName("frame_pixels"));
    }
  }
  return Status();
}

size_t OutputWords(const VideoOptions& options) {
  return kWordsOfFormat + kWordsPerTransform * (options.transforms.size() + 1);
}

void WriteOutput(const VideoOptions& options, const VideoMetadata* known,
                 schema::Output::Builder out) {
  out.setAutoscale(options.autoscale);
  if (options.output_format == OutputFormat::kNative) {
    auto native = out.getElement().initNative();
    if (known) native.setPixelFormat(known->pixel_format);
    return;
  }
  const std::optional<Dtype> dtype =
      known ? known->dtype : WantedDtype(options);
  if (dtype) {
    out.getElement().setType(Wire(*dtype));
  } else {
    out.getElement().setByDepth();
  }
  auto transforms = out.initTransforms(options.transforms.size());
  for (size_t i = 0; i < options.transforms.size(); ++i) {
    auto transform = transforms[i];
    const Size size = SizeOf(options.transforms[i]);
    transform.setWidth(size.width);
    transform.setHeight(size.height);
    std::visit([&](const auto& any) { WriteTransform(any, transform); },
               options.transforms[i]);
  }
}

Status AddOutputIfValid(schema::Opened::Reader opened_untrusted,
                        const VideoOptions& options, const Limits& limits,
                        VideoMetadata& metadata) {
  switch (opened_untrusted.getElementType()) {
    case schema::ElementType::UINT8:
      metadata.dtype = Dtype::kUint8;
      break;
    case schema::ElementType::FLOAT32:
      metadata.dtype = Dtype::kFloat32;
      break;
    default:
      return Violation("it reported frames of no known type");
  }
  const std::optional<Dtype> wanted = WantedDtype(options);
  if (wanted && metadata.dtype != *wanted) {
    return Violation("it reported frames of another type than was asked for");
  }
  metadata.upright_width = opened_untrusted.getUprightWidth();
  metadata.upright_height = opened_untrusted.getUprightHeight();
  if (metadata.upright_width == 0 || metadata.upright_height == 0 ||
      metadata.upright_width > limits.frame_pixels / metadata.upright_height) {
    return Violation("it reported a picture beyond the limit it was given");
  }
  const Size expected =
      options.transforms.empty()
          ? Size{metadata.upright_width, metadata.upright_height}
          : SizeOf(options.transforms.back());
  if (metadata.width != expected.width || metadata.height != expected.height) {
    return Violation("it reported frames of another size than was asked for");
  }
  metadata.chroma_location = opened_untrusted.getChromaLocation();
  metadata.threads = opened_untrusted.getThreads();
  if (metadata.threads != options.threads && metadata.threads != 1) {
    return Violation("it uses another number of threads than was asked for");
  }
  return Status();
}

}  // namespace bulkhead::worker_link
