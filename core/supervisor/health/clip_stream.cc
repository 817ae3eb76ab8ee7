// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/health/clip_stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/from_ipc.h"
#include "core/base/picture_md5.h"
#include "core/base/status_macros.h"
#include "core/supervisor/backend/worker_talk.h"
#include "core/supervisor/health/built_in_clip.h"
#include "core/worker_protocol/audio_validation.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::health {
namespace {

namespace schema = ipc::schema;

constexpr uint32_t kSlots = 2;
constexpr uint64_t kSoundSlotBytes = 4096;
static_assert(kSoundSlotBytes >= sizeof(float) * kBuiltInSoundSamples);

Status Wrong(const std::string& what) {
  return Status(Code::kBackendUnavailable, what);
}

}  // namespace

ClipStream::ClipStream(const KnownClip& clip)
    : clip_(clip), limits_{.frame_pixels = kMaxPixels} {}

Result<ipc::UniqueFd> ClipStream::MakeMedia() const {
  ipc::UniqueFd media(
      ::memfd_create("bulkhead-clip", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!media ||
      ::write(media.get(), clip_.media.data(), clip_.media.size()) !=
          static_cast<ssize_t>(clip_.media.size()) ||
      ::lseek(media.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(media.get(), F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return FromIpc(
        ipc::FailErrno(ipc::Code::kResourceExhausted, clip_.title, errno)
            .value());
  }
  return media;
}

worker_protocol::StreamOpening ClipStream::Opening(uint32_t device) const {
  return {
      .kind = audio() ? schema::StreamKind::AUDIO : schema::StreamKind::VIDEO,
      .stream_index = std::nullopt,
      .stream_choice = StreamChoice::kFirst,
      .threads = 1,
      .backend_options = {},
      .device = device,
      .name_hint = clip_.file_name,
      .media_bytes = static_cast<int64_t>(clip_.media.size()),
      .limits = limits_};
}

Result<std::shared_ptr<worker_protocol::FramePool>> ClipStream::MakePool()
    const {
  uint64_t bytes = kSoundSlotBytes;
  if (!audio()) {
    ASSIGN_OR_RETURN(const auto geometry,
                     FromIpc(ipc::RgbGeometry(shape_.width, shape_.height,
                                              limits_.frame_pixels)));
    bytes = geometry.bytes;
  }
  return worker_protocol::FramePool::Create(
      bytes, "parts of " + clip_.title, kSlots, kSlots * bytes,
      worker_protocol::FramePool::Slots::kAllocated);
}

void ClipStream::FillPlay(uint32_t epoch, schema::Play::Builder play) const {
  play.setEpoch(epoch);
  if (audio()) {
    play.getStart().setSample(0);
  } else {
    play.getStart().setBeginning();
  }
  play.setMaxFrames(audio() ? kBuiltInSoundSamples : expected());
}

std::optional<Status> ClipStream::JudgeOpened(
    schema::Reply::Reader reply_untrusted) {
  if (audio()) {
    if (!reply_untrusted.isOpenedAudio()) return std::nullopt;
    const auto opened = worker_protocol::ValidateOpenedAudio(
        reply_untrusted.getOpenedAudio(), AudioOptions(), limits_);
    if (!opened) return backend::Misbehaved(opened.error().message());
    return opened->sample_rate == kBuiltInSoundRate && opened->channels == 1
               ? Status()
               : Wrong("it takes it for a sound of another format");
  }
  if (!reply_untrusted.isOpened()) return std::nullopt;
  const auto opened =
      worker_protocol::ValidateOpened(reply_untrusted.getOpened(), limits_);
  if (!opened) return backend::Misbehaved(opened.error().message());
  shape_ = {.width = opened->width, .height = opened->height};
  return Status();
}

std::optional<Status> ClipStream::JudgeOutput(
    schema::Reply::Reader reply_untrusted,
    const std::shared_ptr<worker_protocol::FramePool>& pool) {
  if (reply_untrusted.isEndOfStream()) {
    return Wrong(judged_ == 0
                     ? "it finds nothing in it"
                     : "it ends before frame " + std::to_string(judged_) +
                           ", which is one of " + std::to_string(expected()));
  }
  if (!audio()) {
    if (!reply_untrusted.isFrame()) return std::nullopt;
    return JudgePicture(reply_untrusted.getFrame(), pool);
  }
  if (!reply_untrusted.isSamples()) return std::nullopt;
  const auto samples_untrusted = reply_untrusted.getSamples();
  const auto lease = worker_protocol::AdoptSamplesIfValid(samples_untrusted,
                                                          /*channels=*/1, pool);
  if (!lease) return backend::Misbehaved(lease.error().message());
  if (samples_untrusted.getFirst() != 0 ||
      samples_untrusted.getCount() > kBuiltInSoundSamples) {
    return backend::Misbehaved("it published other samples");
  }
  const std::span sound((*lease)->pixels(),
                        sizeof(float) * samples_untrusted.getCount());
  if (std::any_of(sound.begin(), sound.end(),
                  [](std::byte byte) { return byte != std::byte{}; })) {
    return Wrong("its samples are not the silence that is in it");
  }
  ++judged_;
  return Status();
}

Status ClipStream::JudgePicture(
    schema::PublishedFrame::Reader frame_untrusted,
    const std::shared_ptr<worker_protocol::FramePool>& pool) {
  const auto lease =
      worker_protocol::AdoptPictureIfValid(frame_untrusted, shape_, pool);
  if (!lease) return backend::Misbehaved(lease.error().message());
  const std::string md5 =
      PictureMd5((*lease)->pixels(), shape_.height,
                 size_t{shape_.width} * ipc::BytesPerPixel(shape_.element),
                 frame_untrusted.getStride());
  const std::vector<std::string>& right = clip_.picture_md5s[judged_];
  if (std::find(right.begin(), right.end(), md5) == right.end()) {
    return Wrong("frame " + std::to_string(judged_) +
                 " is not the picture that " + clip_.reference +
                 " gives: its MD5 is " + md5 + " instead of " + right[0]);
  }
  ++judged_;
  return Status();
}

}  // namespace bulkhead::health
