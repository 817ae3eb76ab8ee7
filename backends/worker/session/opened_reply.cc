// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/opened_reply.h"

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

void SetRational(schema::Rational::Builder out, bulkhead_rational rational) {
  out.setNumerator(rational.numerator);
  out.setDenominator(rational.denominator);
}

// Returns the aspect ratio of the pixels of delivered pictures. The facts state
// it for pictures that were turned upright, and native pictures are not.
bulkhead_rational AspectRatio(const demux::StreamFacts& facts, bool is_native) {
  const bulkhead_rational upright = facts.sample_aspect_ratio;
  const bool turned = facts.orientation.transpose && upright.numerator != 0;
  return is_native && turned
             ? bulkhead_rational{upright.denominator, upright.numerator}
             : upright;
}

}  // namespace

ipc::Expected<void> SendOpened(HostReplies& replies,
                               const decode::PictureReader& reader,
                               const convert::OutputConverter& converter,
                               uint32_t threads) {
  const demux::StreamFacts& facts = reader.demuxer().facts();
  const convert::OutputShape& shape = converter.shape();
  return replies.Send(kSmallReplyWords + 64, [&](schema::Reply::Builder reply) {
    auto opened = reply.initOpened();
    opened.setStreamIndex(facts.stream_index);
    opened.setStreamCount(facts.stream_count);
    opened.setCodec(facts.codec);
    if (shape.native) {
      opened.setPixelFormat(shape.pixel_format);
    } else {
      opened.setPixelFormat(reader.has_picture()
                                ? reader.picture()->pixel_format
                                : facts.pixel_format);
    }
    opened.setContainer(facts.container.substr(0, 128));
    opened.setWidth(shape.size.width);
    opened.setHeight(shape.size.height);
    opened.setRotation(facts.orientation.degrees);
    opened.setVerticalFlip(facts.orientation.vertical_flip);
    SetRational(opened.initTimeBase(), facts.time_base);
    SetRational(opened.initAverageFrameRate(), facts.average_frame_rate);
    SetRational(opened.initBaseFrameRate(), facts.base_frame_rate);
    SetRational(opened.initSampleAspectRatio(),
                AspectRatio(facts, shape.native.has_value()));
    opened.setFrameCountFromHeader(facts.frame_count);
    opened.setDurationFromHeader(facts.duration);
    opened.setContainerDuration(facts.container_microseconds);
    opened.setStartFromHeader(facts.start);
    opened.setBitRate(facts.bit_rate);
    opened.setColorPrimaries(facts.color_primaries);
    opened.setColorTransfer(facts.color_transfer);
    opened.setColorSpace(facts.color_space);
    opened.setColorRange(facts.color_range);
    opened.setChromaLocation(static_cast<uint8_t>(facts.chroma_location));
    opened.setElementType(static_cast<schema::ElementType>(shape.element));
    opened.setThreads(threads);
    opened.setUprightWidth(converter.upright_size().width);
    opened.setUprightHeight(converter.upright_size().height);
  });
}

}  // namespace bulkhead::worker::session
