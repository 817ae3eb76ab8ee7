// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/picture_log.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

extern "C" {
#include <libavutil/log.h>
}

namespace bulkhead::libav_codec {
namespace {

// The number of pictures that are remembered. No decoder has as many at work:
// it has at most 64 threads, and 16 pictures that wait to be shown.
constexpr size_t kMostPictures = 512;

// Lines that are logged while a damaged picture is decoded: by H.264, the MPEG
// family and other decoders that conceal errors, by FFV1, and by HEVC.
constexpr const char* kDamage[] = {
    "concealing %d DC",
    "slice CRC mismatch",
    "bytestream end mismatching",
    "Previous slice segment missing",
};

// Lines of MJPEG, which then leaves out all or the rest of a scan.
constexpr const char* kMjpegDamage[] = {
    "decode_sos: ",
    "error y=%d x=%d",
    "overread %d",
    "bitstream truncated in mjpeg_decode_scan_progressive_ac",
};

// HEVC logs this before it makes up a missing reference picture.
constexpr const char* kMissing = "Could not find ref with POC";

// HEVC logs the first of these lines when the last block of a picture was
// decoded. MJPEG logs the second one when a picture has a scan.
constexpr const char* kHevcCompletion = "Decoded frame with POC";
constexpr const char* kMjpegCompletion = "component: %d";

// H.264 logs this for a damaged macroblock.
constexpr const char* kMacroblock = "error while decoding MB";

// Returns whether a line says that a macroblock of H.264 with CAVLC was not
// decoded to its end. The thread that decoded it keeps the coefficients, and
// adds them to the errors of a later block. With CABAC, which has no such
// residue, the line also has "bytestream".
bool SaysResidue(AVCodecID codec, const char* format) {
  return codec == AV_CODEC_ID_H264 &&
         std::strstr(format, kMacroblock) != nullptr &&
         std::strstr(format, "bytestream") == nullptr;
}

// Returns whether a line says that the picture is damaged. For JPEG 2000 any
// error does, since it leaves out parts that it cannot decode and then outputs
// the picture as if it were complete.
bool SaysDamage(AVCodecID codec, int level, const char* format) {
  const auto says = [&](const char* text) {
    return std::strstr(format, text) != nullptr;
  };
  return says(kMacroblock) ||
         std::any_of(std::begin(kDamage), std::end(kDamage), says) ||
         (codec == AV_CODEC_ID_JPEG2000 && level <= AV_LOG_ERROR) ||
         (codec == AV_CODEC_ID_MJPEG &&
          std::any_of(std::begin(kMjpegDamage), std::end(kMjpegDamage), says));
}

bool SaysCompletion(AVCodecID codec, const char* format) {
  switch (codec) {
    case AV_CODEC_ID_HEVC:
      return std::strstr(format, kHevcCompletion) != nullptr;
    case AV_CODEC_ID_MJPEG:
      return std::strstr(format, kMjpegCompletion) != nullptr;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string_view> PictureLog::Words() {
  std::vector<std::string_view> words = {kMissing, kHevcCompletion,
                                         kMjpegCompletion, kMacroblock};
  words.insert(words.end(), std::begin(kDamage), std::end(kDamage));
  words.insert(words.end(), std::begin(kMjpegDamage), std::end(kMjpegDamage));
  return words;
}

int64_t PictureLog::NextPacket(bool keyframe, int64_t pts) {
  const std::lock_guard lock(mutex_);
  ++packets_;
  if (keyframe) {
    keyframes_[packets_] = pts;
  } else if (pts != AV_NOPTS_VALUE && !keyframes_.empty() &&
             pts < keyframes_.rbegin()->second) {
    leading_.insert(packets_);
    if (leading_.size() > kMostPictures) leading_.erase(leading_.begin());
  }
  if (keyframes_.size() > kMostPictures) keyframes_.erase(keyframes_.begin());
  return packets_;
}

int64_t PictureLog::NotTaken() {
  const std::lock_guard lock(mutex_);
  keyframes_.erase(packets_);
  leading_.erase(packets_);
  return --packets_;
}

void PictureLog::Begins(int64_t packet) {
  const std::lock_guard lock(mutex_);
  pictures_.try_emplace(packet);
  if (pictures_.size() > kMostPictures) pictures_.erase(pictures_.begin());
}

void PictureLog::Line(int64_t packet, int level, const char* format) {
  const bool missing = std::strstr(format, kMissing) != nullptr;
  const bool damage = missing || SaysDamage(codec_, level, format);
  const bool complete = SaysCompletion(codec_, format);
  const bool error = level <= AV_LOG_ERROR;
  if (!damage && !complete && !error) return;
  const std::lock_guard lock(mutex_);
  met_error_ = met_error_ || damage || error;
  // JPEG 2000 logs errors before the picture begins, so the picture is added.
  if (damage && codec_ == AV_CODEC_ID_JPEG2000) pictures_.try_emplace(packet);
  // Finds the picture of the packet or, if there is none, the latest picture
  // before it: the packet of a second field begins no picture.
  auto picture = pictures_.upper_bound(packet);
  if (picture == pictures_.begin()) return;
  --picture;
  picture->second.damaged = picture->second.damaged || damage;
  if (missing) made_up_[picture->first] = leading_.contains(picture->first);
  // The same thread decodes the packet that follows frame_threads_ later.
  if (SaysResidue(codec_, format)) made_up_[packet + frame_threads_] = false;
  if (made_up_.size() > kMostPictures) made_up_.erase(made_up_.begin());
  if (!complete) return;
  picture->second.complete = true;
  first_complete_ = std::min(first_complete_, picture->first);
}

void PictureLog::Flush() {
  const std::lock_guard lock(mutex_);
  pictures_.clear();
  keyframes_.clear();
  leading_.clear();
  made_up_.clear();
  met_error_ = false;
}

bool PictureLog::IsIncomplete(int64_t packet, const Picture& picture) const {
  // Before the first completion, nothing is known: a version of libavcodec may
  // log no completions at all.
  return !picture.complete && first_complete_ < packet;
}

bool PictureLog::SeesMadeUp(int64_t packet, int64_t pts) const {
  // The picture refers to no picture before packet `from`, and to no leading
  // picture before packet `leading_from`.
  int64_t from = 0;
  int64_t leading_from = -1;
  auto keyframe = keyframes_.upper_bound(packet);
  if (keyframe != keyframes_.begin()) {
    --keyframe;
    // A leading picture may also refer to the previous keyframe and the
    // pictures after that.
    const bool leads = pts < keyframe->second;
    from = keyframe->first;
    leading_from = leads ? from : INT64_MAX;  // others refer to none
    if (leads) {
      from = keyframe == keyframes_.begin() ? 0 : std::prev(keyframe)->first;
    }
  }
  return std::any_of(made_up_.lower_bound(from), made_up_.upper_bound(packet),
                     [&](const auto& made_up) {
                       const auto& [first, only_leading] = made_up;
                       return !only_leading || first >= leading_from;
                     });
}

bool PictureLog::IsDamaged(int64_t packet, int64_t pts) const {
  const std::lock_guard lock(mutex_);
  const auto picture = pictures_.find(packet);
  if (picture == pictures_.end()) return false;
  return picture->second.damaged || IsIncomplete(packet, picture->second) ||
         SeesMadeUp(packet, pts);
}

bool PictureLog::TakeError(int64_t packet) {
  const std::lock_guard lock(mutex_);
  for (auto picture = pictures_.upper_bound(judged_);
       picture != pictures_.end() && picture->first <= packet; ++picture) {
    judged_ = picture->first;
    met_error_ = met_error_ || IsIncomplete(judged_, picture->second);
  }
  return std::exchange(met_error_, false);
}

}  // namespace bulkhead::libav_codec
