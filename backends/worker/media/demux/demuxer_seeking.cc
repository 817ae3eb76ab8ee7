// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/demuxer.h"
#include "backends/worker/media/demux/media_file.h"
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

ipc::Expected<void> Demuxer::SeekToKeyframe(int64_t timestamp) {
  return SeekTo(timestamp, [this](bool*) {
    return (av_packet_->flags & AV_PKT_FLAG_KEY) != 0;
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
  if (stream_ == nullptr) IPC_TRY(SeekToBeginning());
  at_beginning_ = false;
  kept_.GiveUp();
  packets_before_lending_.reset();
  last_dts_ = BULKHEAD_NO_TIMESTAMP;
  const AVRational base = stream_->time_base;
  // In ticks of the time base.
  const int64_t second =
      base.num > 0 ? std::max<int64_t>(base.den / base.num, 1) : 1;
  int64_t target = timestamp;
  bool passed = false;
  for (int attempt = 0; attempt < kMostSeeks && !passed; ++attempt) {
    packet_is_pending_ = false;
    const int result =
        av_seek_frame(format_, stream_index_, target, AVSEEK_FLAG_BACKWARD);
    if (result < 0 && attempt == 0) {
      return ipc::Fail(ipc::Code::kOutOfRange,
                       name_ + " cannot seek to timestamp " +
                           std::to_string(timestamp) + ": " +
                           AvErrorText(result) + "; read from the beginning");
    }
    if (result < 0) break;
    // A seek may arrive at any packet: in transport streams it goes by time,
    // not by keyframe. So this loop reads packets until the wanted one, or
    // until one that is shown after `timestamp`.
    while (NextAvPacket()) {
      const int64_t latest =
          LatestTimestamp(*av_packet_, stream_->codecpar->video_delay);
      if (latest == AV_NOPTS_VALUE || latest > timestamp) break;
      packet_ = libav_format::PacketOf(*av_packet_, &packet_side_data_);
      if (!is_wanted(&passed)) continue;
      packet_is_pending_ = true;
      // Reading may have replaced the memory that the parameters point to.
      parameters_ = libav_format::ParametersOf(*stream_, &stream_side_data_);
      return {};
    }
    if (__builtin_sub_overflow(target, second << attempt, &target)) break;
  }
  return SeekToBeginning();
}

int64_t Demuxer::entry() const {
  return av_packet_->pts != AV_NOPTS_VALUE ? av_packet_->pts : av_packet_->dts;
}

ipc::Expected<void> Demuxer::SeekToBeginning() {
  if (at_beginning_ && stream_ != nullptr && !packets_before_lending_) {
    return {};
  }
  CloseInput();
  return OpenInput();
}

}  // namespace bulkhead::worker::demux
