// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the worker's inspector of packets, which predicts pictures from their
// headers. The first byte of the input selects the codec, the second what the
// container says of the packets; the rest is packets, each after its size in
// two bytes and a byte of flags.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "tests/fuzz/check.h"

namespace {

using bulkhead::worker::damage::PacketInspector;

constexpr AVCodecID kCodecs[] = {
    AV_CODEC_ID_H264,       AV_CODEC_ID_HEVC,   AV_CODEC_ID_MPEG1VIDEO,
    AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4,  AV_CODEC_ID_VP8,
    AV_CODEC_ID_VP9,        AV_CODEC_ID_AV1,    AV_CODEC_ID_MJPEG,
    AV_CODEC_ID_VVC,        AV_CODEC_ID_PRORES, AV_CODEC_ID_FFV1,
    AV_CODEC_ID_THEORA,     AV_CODEC_ID_DIRAC};

std::unique_ptr<PacketInspector> Inspector(uint8_t codec, uint8_t container) {
  AVCodecParameters* parameters = avcodec_parameters_alloc();
  FUZZ_CHECK(parameters != nullptr);
  parameters->codec_type = AVMEDIA_TYPE_VIDEO;
  parameters->codec_id = kCodecs[codec % std::size(kCodecs)];
  if (container & 1) {
    // The sizes of NAL units in the place of start codes, as MP4 has them.
    constexpr uint8_t kAvcc[] = {1, 100, 0, 30, 0xFF, 0xE0, 0};
    parameters->extradata = static_cast<uint8_t*>(
        av_mallocz(sizeof kAvcc + AV_INPUT_BUFFER_PADDING_SIZE));
    FUZZ_CHECK(parameters->extradata != nullptr);
    std::copy(std::begin(kAvcc), std::end(kAvcc), parameters->extradata);
    parameters->extradata_size = sizeof kAvcc;
  }
  auto inspector = PacketInspector::Create(*parameters);
  avcodec_parameters_free(&parameters);
  return inspector;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  av_log_set_level(AV_LOG_QUIET);
  const auto inspector = Inspector(data[0], data[1]);
  FUZZ_CHECK(inspector != nullptr);
  data += 2;
  size -= 2;
  bool was_ordered = true;
  bool had_keyframe = false;
  size_t packets = 0;
  int64_t pts = 0;
  while (size >= 3) {
    const size_t bytes = std::min<size_t>(data[0] << 8 | data[1], size - 3);
    const uint8_t flags = data[2];
    // A copy of its own, so that a read after the padding is found.
    std::vector<uint8_t> packet_bytes(data + 3, data + 3 + bytes);
    packet_bytes.resize(bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    packet_bytes.shrink_to_fit();
    bulkhead_packet packet = {};
    packet.size = sizeof packet;
    packet.data = packet_bytes.data();
    packet.bytes = bytes;
    // The order of a muxer's timestamps is as hostile as the rest.
    pts += static_cast<int8_t>(flags & 0xFE) / 2;
    packet.pts = (flags & 0xFE) == 0x80 ? BULKHEAD_NO_TIMESTAMP : pts;
    packet.dts = BULKHEAD_NO_TIMESTAMP;
    packet.duration = 1;
    packet.flags = (flags & 1) != 0 ? BULKHEAD_PACKET_KEYFRAME : 0;
    (void)inspector->Inspect(packet);
    ++packets;
    // What was contradicted once stays so, and so does a sound keyframe.
    FUZZ_CHECK(was_ordered || !inspector->ordered());
    FUZZ_CHECK(!had_keyframe || inspector->met_keyframe());
    was_ordered = inspector->ordered();
    had_keyframe = inspector->met_keyframe();
    FUZZ_CHECK(inspector->late().size() < packets);
    for (const PacketInspector::LatePacket& late : inspector->late()) {
      FUZZ_CHECK(late.duration == 1);
    }
    const auto& role = inspector->role();
    FUZZ_CHECK(!role.entry || role.refresh == 0);
    if (bytes == 7) inspector->Restart();
    data += 3 + bytes;
    size -= 3 + bytes;
  }
  return 0;
}
