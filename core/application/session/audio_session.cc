// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/audio_session.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "core/application/session/cut_off.h"
#include "core/application/session/failover.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/damage_sign.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// Most calls ask for less. Those that do not know how much there is ask for
// all.
constexpr int64_t kMostReservedSamples = 1 << 20;
// A third of a second of stereo at 96 kHz; 1024 samples of 64 channels.
constexpr uint64_t kSlotBytes = 256 * 1024;

Status CheckOptions(const std::string& path, const AudioOptions& options) {
  if (options.stream_index.value_or(0) < 0) {
    return Status(Code::kInvalidArgument,
                  path + " has no stream " +
                      std::to_string(*options.stream_index) +
                      "; leave the index out for the first audio stream");
  }
  if (options.on_corrupt != OnCorrupt::kError &&
      options.on_corrupt != OnCorrupt::kSkip) {
    return Status(Code::kInvalidArgument,
                  "on_corrupt (--on-corrupt) of audio is error or skip; the "
                  "other ways are for pictures");
  }
  const int rate = options.sample_rate.value_or(1);
  if (rate < 1 || static_cast<uint32_t>(rate) > kMaxSampleRate) {
    return Status(Code::kInvalidArgument, "sample_rate (--sample-rate) is " +
                                              std::to_string(rate) +
                                              "; it must be from 1 to " +
                                              std::to_string(kMaxSampleRate));
  }
  const int channels = options.num_channels.value_or(1);
  if (channels < 1 || static_cast<uint32_t>(channels) > kMaxChannels) {
    return Status(Code::kInvalidArgument,
                  "num_channels (--channels) is " + std::to_string(channels) +
                      "; it must be from 1 to " + std::to_string(kMaxChannels));
  }
  return Status();
}

}  // namespace

Result<std::unique_ptr<AudioSession>> AudioSession::Open(
    std::shared_ptr<SupervisorLink> supervisor, const Source& source,
    AudioOptions options, const Limits& limits) {
  RETURN_IF_ERROR(CheckOptions(source.name(), options));
  RETURN_IF_ERROR(ValidateBackendOptions(options.backend_options));
  ASSIGN_OR_RETURN(MediaInput input, MediaInput::Open(source));
  auto cancel = CancelSignal::Of(options.cancellation);
  ASSIGN_OR_RETURN(auto elsewhere, OptionsElsewhere(*supervisor, options));
  std::unique_ptr<AudioSession> session(new AudioSession(
      std::move(supervisor), std::move(input), std::move(options),
      std::move(elsewhere), limits, std::move(cancel)));
  RETURN_IF_ERROR(session->OpenFirst());
  return session;
}

AudioSession::AudioSession(std::shared_ptr<SupervisorLink> supervisor,
                           MediaInput input, AudioOptions options,
                           std::optional<AudioOptions> elsewhere,
                           const Limits& limits,
                           std::shared_ptr<CancelSignal> cancel)
    : StreamSession(supervisor, std::move(input), options, elsewhere, limits,
                    cancel),
      options_(std::move(options)),
      elsewhere_(std::move(elsewhere)) {}

Result<bool> AudioSession::OpenStream(WorkerLink& link, uint32_t incarnation) {
  audio_.emplace(link);
  ASSIGN_OR_RETURN(OpenedAudio opened,
                   audio_->Open(options_, incarnation, limits(), input()));
  if (!opened_) {
    opened_ = std::move(opened);
    return true;
  }
  opened_->metadata.backend = opened.metadata.backend;
  opened_->metadata.device = opened.metadata.device;
  return opened.sample_rate == opened_->sample_rate &&
         opened.channels == opened_->channels &&
         opened.metadata.codec == metadata().codec &&
         opened.metadata.stream_index == metadata().stream_index &&
         opened.metadata.begin_seconds == metadata().begin_seconds;
}

Result<std::shared_ptr<FramePool>> AudioSession::MakePool() const {
  return FramePool::Create(kSlotBytes, "blocks of samples",
                           limits().frame_slots, limits().session_bytes,
                           FramePool::Slots::kAllocated);
}

void AudioSession::LinkLost() {
  audio_.reset();
  playing_ = false;
}

void AudioSession::OptionsChanged() {
  options_ = *std::move(elsewhere_);
  device_changed_ = true;
}

int64_t AudioSession::SampleAt(double seconds) const {
  const double sample =
      std::round((seconds - metadata().begin_seconds) * opened_->sample_rate);
  constexpr auto kMost = static_cast<double>(kMostSamples);
  return static_cast<int64_t>(std::clamp(sample, -kMost, kMost));
}

AudioSamples AudioSession::Describe(double pts_seconds) const {
  AudioSamples samples;
  samples.channels = opened_->channels;
  samples.sample_rate = opened_->sample_rate;
  samples.pts_seconds = pts_seconds;
  return samples;
}

Result<AudioSamples> AudioSession::SamplesPlayedInRange(
    double start_seconds, std::optional<double> stop_seconds) {
  if (std::isnan(start_seconds) || std::isnan(stop_seconds.value_or(0)) ||
      start_seconds > stop_seconds.value_or(start_seconds)) {
    return Status(Code::kInvalidArgument,
                  "samples from " + std::to_string(start_seconds) + " to " +
                      std::to_string(stop_seconds.value_or(0)) +
                      " s were asked for; name a start that is not after the "
                      "stop");
  }
  const int64_t first = std::max<int64_t>(SampleAt(start_seconds), 0);
  const int64_t end = stop_seconds ? SampleAt(*stop_seconds) : kMostSamples;
  if (stop_seconds && (start_seconds == *stop_seconds || end == first)) {
    return Describe(start_seconds);
  }
  Channels channels;
  if (end > first) {
    ASSIGN_OR_RETURN(channels, Fetch(first, end - first));
  }
  if (channels.empty() && first == 0 && end > 0) {
    return Describe(metadata().begin_seconds);  // a sound without samples
  }
  if (channels.empty()) {
    const std::string from =
        std::isinf(start_seconds)
            ? " before "
            : " between " + std::to_string(start_seconds) + " s and ";
    return Status(
        Code::kOutOfRange,
        input().name() + " has no sample" + from +
            (stop_seconds ? std::to_string(*stop_seconds) + " s" : "its end") +
            "; it begins at " + std::to_string(metadata().begin_seconds) +
            " s");
  }
  const double rate = opened_->sample_rate;
  AudioSamples samples =
      Describe(metadata().begin_seconds + static_cast<double>(first) / rate);
  samples.duration_seconds = static_cast<double>(channels[0].size()) / rate;
  samples.data = std::move(channels[0]);
  samples.data.reserve(samples.data.size() * channels.size());
  for (size_t i = 1; i < channels.size(); ++i) {
    samples.data.insert(samples.data.end(), channels[i].begin(),
                        channels[i].end());
    channels[i] = {};
  }
  return samples;
}

Result<AudioSession::Channels> AudioSession::Fetch(int64_t first,
                                                   int64_t count) {
  Channels channels;
  playing_ = false;
  RETURN_IF_ERROR(CheckDamage(first, first + count));
  // The noise that Codec 2 puts into sound goes on in the process, whichever
  // decoder makes it: going back needs a new one.
  const bool goes_back =
      first < std::exchange(fetched_end_, std::numeric_limits<int64_t>::max());
  if (goes_back && metadata().codec == "codec2") worker().DropWorker();
  const auto have = [&] {
    return channels.empty() ? 0 : static_cast<int64_t>(channels[0].size());
  };
  for (bool more = true; more && have() < count;) {
    worker().Want(static_cast<uint64_t>(first + have()));
    ASSIGN_OR_RETURN(
        more,
        worker().Run(WorkerRecovery::Step::kFrameAt, [&]() -> Result<bool> {
          // The samples of one call are those of one device.
          if (std::exchange(device_changed_, false)) channels.clear();
          return FetchSome(first + have(), count - have(), channels);
        }));
    RETURN_IF_ERROR(CheckDamage(first, first + count));
  }
  if (have() < count && input().lost_bytes() > 0) {
    RETURN_IF_ERROR(FillShortened(first, count, channels));
    RETURN_IF_ERROR(CheckDamage(first, first + count));
  }
  fetched_end_ = first + have();
  known_end_ = std::max(known_end_, fetched_end_);
  return channels;
}

Status AudioSession::FillShortened(int64_t first, int64_t count,
                                   Channels& channels) {
  const int64_t had =
      channels.empty() ? 0 : static_cast<int64_t>(channels[0].size());
  const int64_t wanted = std::min(known_end_ - first, count);
  if (wanted <= had) return Status();
  damage_.Add({.first = first + had,
               .count = known_end_ - first - had,
               .sign = ipc::DamageSign::kShrunk});
  RETURN_IF_ERROR(CheckRoom(static_cast<uint64_t>(wanted)));
  channels.resize(opened_->channels);
  for (std::vector<float>& channel : channels) {
    channel.resize(static_cast<size_t>(wanted));
  }
  return Status();
}

Status AudioSession::CheckRoom(uint64_t samples) const {
  if (samples * opened_->channels * sizeof(float) <= limits().session_bytes) {
    return Status();
  }
  return Status(Code::kResourceExhausted,
                "the samples that were asked for are too many; ask for less "
                "of " +
                    input().name() + " at once, or raise " +
                    ipc::LimitName("session_bytes"));
}

Result<bool> AudioSession::FetchSome(int64_t first, int64_t count,
                                     Channels& channels) {
  if (!playing_) RETURN_IF_ERROR(audio_->Play(first, count));
  playing_ = true;
  ASSIGN_OR_RETURN(const AudioEvent event, audio_->Await());
  if (const auto* lost = std::get_if<LostSamples>(&event)) {
    damage_.Add({.first = lost->first,
                 .count = lost->count,
                 .sign = lost->sign,
                 .first_byte = lost->first_byte,
                 .last_byte = lost->last_byte,
                 .words = lost->words,
                 .estimated = lost->estimated,
                 .declared_size = lost->declared_size,
                 .declared_samples = lost->declared_samples});
    return true;
  }
  const auto* published = std::get_if<PublishedSamples>(&event);
  if (published == nullptr) return false;
  RETURN_IF_ERROR(Append(*published, count, channels));
  return true;
}

Status AudioSession::Append(const PublishedSamples& published, int64_t count,
                            Channels& channels) {
  if (channels.empty()) {
    channels.resize(opened_->channels);
    const auto room = static_cast<size_t>(
        std::min<int64_t>(count, kMostReservedSamples / opened_->channels));
    for (std::vector<float>& channel : channels) channel.reserve(room);
    // The others are appended to the first one in the end.
    channels[0].reserve(room * channels.size());
  }
  const Status room = CheckRoom(channels[0].size() + published.count);
  if (!room.ok()) {
    playing_ = false;
    return room;
  }
  const auto* from = reinterpret_cast<const float*>(published.lease->pixels());
  for (std::vector<float>& channel : channels) {
    channel.insert(channel.end(), from, from + published.count);
    from += published.count;
  }
  worker().Progressed();
  return Status();
}

Status AudioSession::CheckDamage(int64_t first, int64_t end) const {
  if (options_.on_corrupt != OnCorrupt::kError) return Status();
  const auto found = damage_.FirstIn(first, end);
  if (!found) return Status();
  const DamagedSamples damage =
      session::Describe(*found, metadata().begin_seconds, opened_->sample_rate);
  std::string text = input().name() + ": samples " +
                     std::to_string(damage.first_sample) + " to " +
                     std::to_string(damage.first_sample + damage.samples - 1) +
                     ", " + std::to_string(damage.begin_seconds) + " s to " +
                     std::to_string(damage.end_seconds) + " s";
  if (damage.first_byte) {
    text += ", byte " + std::to_string(*damage.first_byte) + " of the file,";
  }
  text += " are damaged";
  const std::string shortened =
      Shortened(input().bytes(), input().lost_bytes());
  if (found->declared_size >= 0) {
    text +=
        ": the file is cut off, " +
        SizesOfCut(metadata().container, found->declared_size, input().bytes());
    if (damage.estimated) {
      text += DurationOfCut(metadata().container, metadata());
    }
  } else if (found->declared_samples >= 0) {
    text += ": the file is cut off, its header tells " +
            std::to_string(found->declared_samples) + " samples and it has " +
            std::to_string(found->first);
  } else if (damage.sign != DamageSign::kShrunk || shortened.empty()) {
    text += std::string(": ") + DamageSignText(damage.sign);
  }
  if (damage.estimated) text += " (their number is an estimate)";
  text += shortened;
  return Status(Code::kBadInput,
                text + Quote(metadata().backend, found->words, found->sign) +
                    "; ask for ranges beside them, or set on_corrupt to skip "
                    "(--on-corrupt skip) for silence there");
}

std::vector<DamagedSamples> AudioSession::damage() const {
  return damage_.Ranges(metadata().begin_seconds, opened_->sample_rate);
}

}  // namespace bulkhead::session
