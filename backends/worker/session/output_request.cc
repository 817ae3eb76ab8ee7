// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/output_request.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

convert::Transform ReadTransform(schema::Transform::Reader transform) {
  const convert::PictureSize size{transform.getWidth(), transform.getHeight()};
  switch (transform.which()) {
    case schema::Transform::RESIZE:
      return convert::Resize{
          size, static_cast<convert::Resize::Filter>(transform.getResize())};
    case schema::Transform::CROP:
      return convert::Crop{size, transform.getCrop().getLeft(),
                           transform.getCrop().getTop()};
    case schema::Transform::DRAWN_CROP:
      return convert::DrawnCrop{size, transform.getDrawnCrop().getAcross(),
                                transform.getDrawnCrop().getDown()};
    case schema::Transform::CENTER_CROP:
      break;
  }
  return convert::CenterCrop{size};
}

}  // namespace

convert::OutputFormat ReadOutput(schema::Open::Reader open) {
  const schema::Output::Reader output = open.getOutput();
  convert::OutputFormat format;
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

}  // namespace bulkhead::worker::session
