// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/built_in_stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/supervisor/backend/built_in_clip.h"
#include "core/worker_protocol/audio_validation.h"
#include "core/worker_protocol/published_output.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

constexpr uint32_t kSlots = 2;
constexpr uint64_t kSoundSlotBytes = 4096;
static_assert(kSoundSlotBytes >= sizeof(float) * kBuiltInSoundSamples);

Result<ipc::UniqueFd> Seal(const char* name, std::span<const std::byte> bytes) {
  ipc::UniqueFd clip(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!clip ||
      ::write(clip.get(), bytes.data(), bytes.size()) !=
          static_cast<ssize_t>(bytes.size()) ||
      ::lseek(clip.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(clip.get(), F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return FromIpc(ipc::FailErrno(ipc::Code::kResourceExhausted,
                                  "the built-in clip", errno)
                       .value());
  }
  return clip;
}

Status Expect(bool recognised) {
  return recognised ? Status()
                    : Status(Code::kBackendUnavailable,
                             "it takes it for one of another shape");
}

}  // namespace

Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "it broke the protocol: " + what);
}

Result<ipc::UniqueFd> BuiltInStream::MakeMedia() const {
  return audio_ ? Seal(kBuiltInSoundName, BuiltInSound())
                : Seal(kBuiltInClipName, BuiltInClip());
}

session::StreamOpening BuiltInStream::Opening(uint32_t device) const {
  const size_t bytes = audio_ ? BuiltInSound().size() : BuiltInClip().size();
  return {
      .kind = audio_ ? schema::StreamKind::AUDIO : schema::StreamKind::VIDEO,
      .stream_index = std::nullopt,
      .threads = 1,
      .backend_options = {},
      .device = device,
      .name_hint = audio_ ? kBuiltInSoundName : kBuiltInClipName,
      .media_bytes = static_cast<int64_t>(bytes),
      .limits = limits_};
}

Result<std::shared_ptr<session::FramePool>> BuiltInStream::MakePool() const {
  ASSIGN_OR_RETURN(
      const auto geometry,
      FromIpc(ipc::RgbGeometry(kBuiltInClipWidth, kBuiltInClipHeight,
                               limits_.frame_pixels)));
  const uint64_t bytes = audio_ ? kSoundSlotBytes : geometry.bytes;
  return session::FramePool::Create(bytes, "parts of the built-in clip", kSlots,
                                    kSlots * bytes);
}

void BuiltInStream::FillPlay(uint32_t epoch, schema::Play::Builder play) const {
  play.setEpoch(epoch);
  if (audio_) {
    play.getStart().setSample(0);
  } else {
    play.getStart().setBeginning();
  }
  play.setMaxFrames(audio_ ? kBuiltInSoundSamples : 1);
}

std::optional<Status> BuiltInStream::JudgeOpened(
    schema::Reply::Reader reply_untrusted) const {
  if (audio_) {
    if (!reply_untrusted.isOpenedAudio()) return std::nullopt;
    const auto opened = session::ValidateOpenedAudio(
        reply_untrusted.getOpenedAudio(), AudioOptions(), limits_);
    if (!opened) return Misbehaved(opened.error().message());
    return Expect(opened->sample_rate == kBuiltInSoundRate &&
                  opened->channels == 1);
  }
  if (!reply_untrusted.isOpened()) return std::nullopt;
  const auto opened =
      session::ValidateOpened(reply_untrusted.getOpened(), limits_);
  if (!opened) return Misbehaved(opened.error().message());
  return Expect(opened->width == kBuiltInClipWidth &&
                opened->height == kBuiltInClipHeight);
}

std::optional<Status> BuiltInStream::JudgeOutput(
    schema::Reply::Reader reply_untrusted,
    const std::shared_ptr<session::FramePool>& pool) const {
  if (reply_untrusted.isEndOfStream()) {
    return Status(Code::kBackendUnavailable, "it finds nothing in it");
  }
  if (!audio_) {
    if (!reply_untrusted.isFrame()) return std::nullopt;
    const auto lease = session::AdoptPictureIfValid(
        reply_untrusted.getFrame(),
        {.width = kBuiltInClipWidth, .height = kBuiltInClipHeight}, pool);
    return lease ? Status() : Misbehaved(lease.error().message());
  }
  if (!reply_untrusted.isSamples()) return std::nullopt;
  const auto samples_untrusted = reply_untrusted.getSamples();
  const auto lease =
      session::AdoptSamplesIfValid(samples_untrusted, /*channels=*/1, pool);
  if (!lease) return Misbehaved(lease.error().message());
  return samples_untrusted.getFirst() == 0 &&
                 samples_untrusted.getCount() <= kBuiltInSoundSamples
             ? Status()
             : Misbehaved("it published other samples");
}

}  // namespace bulkhead::supervisor
