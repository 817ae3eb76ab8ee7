// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/demuxer.h"

#include <algorithm>
#include <string>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/demux/display.h"
#include "ipc/try.h"

namespace bulkhead::worker::demux {
namespace {

// The most attempts of a seek, each twice as far before the target as the one
// before. After them decoding starts at the beginning.
constexpr int kMostSeeks = 6;

// Returns an upper bound of the time at which the picture of `packet` is shown.
// Some containers declare only the decoding time; a decoder that reorders
// pictures shows them up to `reordered` + 1 durations later.
int64_t LatestTimestamp(const AVPacket& packet, int reordered) {
  if (packet.pts != AV_NOPTS_VALUE || packet.dts == AV_NOPTS_VALUE) {
    return packet.pts;
  }
  int64_t latest;
  if (__builtin_mul_overflow(packet.duration, int64_t{reordered} + 1,
                             &latest) ||
      __builtin_add_overflow(latest, packet.dts, &latest)) {
    return INT64_MAX;
  }
  return latest;
}

}  // namespace

ipc::Expected<std::unique_ptr<Demuxer>> Demuxer::Open(
    MediaBytes bytes, int64_t size, std::string_view name_hint,
    int32_t stream_index, StreamKind kind, DemuxerLimits limits) {
  std::string name(name_hint.substr(name_hint.rfind('/') + 1));
  IPC_ASSIGN_OR_RETURN(
      auto source, PacketSource::Open({bytes, size, std::move(name),
                                       stream_index, kind, std::move(limits)}));
  return std::unique_ptr<Demuxer>(new Demuxer(std::move(source)));
}

ipc::Expected<std::unique_ptr<Demuxer>> Demuxer::OpenAgain() const {
  IPC_ASSIGN_OR_RETURN(auto source, PacketSource::Open(source_->place()));
  return std::unique_ptr<Demuxer>(new Demuxer(std::move(source)));
}

const bulkhead_codec_parameters& Demuxer::codec_parameters() {
  parameters_ =
      libav_format::ParametersOf(*source_->stream(), &stream_side_data_);
  return parameters_;
}

std::unique_ptr<damage::PacketInspector> Demuxer::MakeInspector() const {
  return damage::PacketInspector::Create(*source_->stream()->codecpar);
}

AccessPoints Demuxer::MakeAccessPoints() const {
  return AccessPoints(*source_->stream()->codecpar);
}

const int32_t* Demuxer::display_matrix_untrusted() const {
  return DisplayMatrixOf(*source_->stream());
}

ipc::Expected<bool> Demuxer::ReadPacket() {
  at_beginning_ = false;
  if (!std::exchange(packet_is_pending_, false)) {
    IPC_ASSIGN_OR_RETURN(const bool read, source_->Read());
    if (!read) return false;
  }
  packet_ = libav_format::PacketOf(source_->packet(), &packet_side_data_);
  last_ = {.latest_dts = std::max(last_.latest_dts, packet_.dts),
           .duration = packet_.duration,
           .is_marked = (packet_.flags & BULKHEAD_PACKET_CORRUPT) != 0};
  return true;
}

const bulkhead_packet* Demuxer::PeekFirst() {
  if (!packet_is_pending_ && !source_->Read().value_or(false)) {
    // ReadPacket then tries to read the first packet again, and says why not.
    at_beginning_ = false;
    (void)SeekToBeginning();
    return nullptr;
  }
  packet_is_pending_ = true;
  packet_ = libav_format::PacketOf(source_->packet(), &packet_side_data_);
  return &packet_;
}

std::unique_ptr<Demuxer> Demuxer::Lend() {
  auto lent = packet_is_pending_ ? nullptr : source_->Lend();
  if (lent == nullptr) return nullptr;
  return std::unique_ptr<Demuxer>(new Demuxer(std::move(lent)));
}

bool Demuxer::disposable() const {
  return (source_->packet().flags & AV_PKT_FLAG_DISPOSABLE) != 0;
}

ipc::Expected<void> Demuxer::SeekToKeyframe(int64_t timestamp) {
  return SeekTo(timestamp, [this](bool*) {
    return (source_->packet().flags & AV_PKT_FLAG_KEY) != 0;
  });
}

ipc::Expected<void> Demuxer::SeekToPacket(const PacketMark& mark) {
  return SeekTo(mark.timestamp, [this, &mark](bool* passed) {
    // Once a packet at or before the wanted one was read, a seek farther back
    // cannot help. Positions show that. Timestamps do not, since a picture that
    // is decoded after the wanted one may be shown before it.
    *passed = *passed || packet_.position < 0 || mark.position < 0 ||
              packet_.position <= mark.position;
    return entry() == mark.timestamp && packet_.position == mark.position &&
           MarkOf(packet_) == mark;
  });
}

template <typename IsWanted>
ipc::Expected<void> Demuxer::SeekTo(int64_t timestamp,
                                    const IsWanted& is_wanted) {
  if (source_->stream() == nullptr) IPC_TRY(SeekToBeginning());
  at_beginning_ = false;
  last_ = {};
  const AVStream& stream = *source_->stream();
  const AVRational base = stream.time_base;
  // In ticks of the time base.
  const int64_t second =
      base.num > 0 ? std::max<int64_t>(base.den / base.num, 1) : 1;
  int64_t target = timestamp;
  bool passed = false;
  for (int attempt = 0; attempt < kMostSeeks && !passed; ++attempt) {
    packet_is_pending_ = false;
    const auto sought = source_->Seek(target);
    if (!sought && attempt == 0) return sought;
    if (!sought) break;
    // A seek may arrive at any packet: in transport streams it goes by time,
    // not by keyframe. So this loop reads packets until the wanted one, or
    // until one that is shown after `timestamp`.
    while (source_->Read().value_or(false)) {
      const int64_t latest =
          LatestTimestamp(source_->packet(), stream.codecpar->video_delay);
      if (latest == AV_NOPTS_VALUE || latest > timestamp) break;
      packet_ = libav_format::PacketOf(source_->packet(), &packet_side_data_);
      if (!is_wanted(&passed)) continue;
      packet_is_pending_ = true;
      return {};
    }
    if (__builtin_sub_overflow(target, second << attempt, &target)) break;
  }
  return SeekToBeginning();
}

int64_t Demuxer::entry() const {
  const AVPacket& packet = source_->packet();
  return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
}

ipc::Expected<void> Demuxer::SeekToBeginning() {
  if (at_beginning_ && source_->in_place()) return {};
  packet_is_pending_ = false;
  at_beginning_ = true;
  last_ = {};
  return source_->Reopen();
}

}  // namespace bulkhead::worker::demux
