// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/output_request.h"

namespace bulkhead::worker {
namespace {

namespace schema = ipc::schema;

Transform ReadTransform(schema::Transform::Reader transform) {
  const PictureSize size{transform.getWidth(), transform.getHeight()};
  switch (transform.which()) {
    case schema::Transform::RESIZE:
      return Resize{size, static_cast<Resize::Filter>(transform.getResize())};
    case schema::Transform::CROP:
      return Crop{size, transform.getCrop().getLeft(),
                  transform.getCrop().getTop()};
    case schema::Transform::DRAWN_CROP:
      return DrawnCrop{size, transform.getDrawnCrop().getAcross(),
                       transform.getDrawnCrop().getDown()};
    case schema::Transform::CENTER_CROP:
      break;
  }
  return CenterCrop{size};
}

}  // namespace

OutputFormat ReadOutput(schema::Open::Reader open) {
  const schema::Output::Reader output = open.getOutput();
  OutputFormat format;
  format.element.reset();
  format.autoscale = output.getAutoscale();
  if (output.getElement().isType()) {
    format.element =
        static_cast<ipc::ElementType>(output.getElement().getType());
  }
  if (output.getElement().isNative()) {
    format.native = {
        .known_format = output.getElement().getNative().getPixelFormat().cStr(),
        .in_place = !open.getIgnoreErrors()};
  }
  for (const auto transform : output.getTransforms()) {
    format.transforms.push_back(ReadTransform(transform));
  }
  return format;
}

}  // namespace bulkhead::worker
