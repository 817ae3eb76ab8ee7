// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/audio_session.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "core/application/session/cut_off.h"
#include "core/application/session/damage_words.h"
#include "core/application/session/failover.h"
#include "core/application/session/option_check.h"
#include "core/application/session/stream_settings.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/damage_sign.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// The most samples, of all channels, for which memory is reserved in advance.
// Most calls ask for fewer. A call for all samples asks for kMostSamples.
constexpr int64_t kMostReservedSamples = 1 << 20;
// Room for a third of a second of stereo at 96 kHz, or for 1024 samples of 64
// channels.
constexpr uint64_t kSlotBytes = 256 * 1024;

}  // namespace

Result<std::unique_ptr<AudioSession>> AudioSession::Open(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const Source& source, AudioOptions options, const Limits& limits) {
  RETURN_IF_ERROR(CheckOptions(source.name(), options));
  ASSIGN_OR_RETURN(worker_link::MediaInput input,
                   worker_link::MediaInput::Open(source));
  auto cancel = supervisor_link::CancelSignal::Of(options.cancellation);
  ASSIGN_OR_RETURN(auto elsewhere, OptionsElsewhere(*supervisor, options));
  std::unique_ptr<AudioSession> session(new AudioSession(
      std::move(supervisor), std::move(input), std::move(options),
      std::move(elsewhere), limits, std::move(cancel)));
  RETURN_IF_ERROR(session->recovery_.Open());
  return session;
}

AudioSession::AudioSession(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    worker_link::MediaInput input, AudioOptions options,
    std::optional<AudioOptions> elsewhere, const Limits& limits,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : input_(std::move(input)),
      limits_(limits),
      options_(std::move(options)),
      elsewhere_(std::move(elsewhere)),
      recovery_(
          supervisor, input_,
          SettingsOf(supervisor, input_, options_, elsewhere_, limits, cancel),
          *this) {}

Result<bool> AudioSession::OpenOn(worker_link::WorkerLink& link,
                                  uint32_t incarnation) {
  audio_.emplace(link);
  ASSIGN_OR_RETURN(worker_protocol::OpenedAudio opened,
                   audio_->Open(options_, incarnation, limits_, input_));
  if (!opened_) {
    opened_ = std::move(opened);
  } else {
    opened_->metadata.backend = opened.metadata.backend;
    opened_->metadata.device = opened.metadata.device;
    const bool same = opened.sample_rate == opened_->sample_rate &&
                      opened.channels == opened_->channels &&
                      opened.metadata.codec == metadata().codec &&
                      opened.metadata.stream_index == metadata().stream_index &&
                      opened.metadata.begin_seconds == metadata().begin_seconds;
    if (!same) return false;
  }
  RETURN_IF_ERROR(memory_.GiveTo(link, [this] {
    return worker_protocol::FramePool::Create(
        kSlotBytes, "blocks of samples", limits_.frame_slots,
        limits_.session_bytes, worker_protocol::FramePool::Slots::kAllocated);
  }));
  return true;
}

void AudioSession::WorkerLost(bool kept) {
  audio_.reset();
  playing_ = false;
  memory_.WorkerLost(kept);
}

void AudioSession::DeviceChanged() {
  options_ = *std::move(elsewhere_);
  device_changed_ = true;
}

int64_t AudioSession::SampleAt(double seconds) const {
  const double sample =
      std::round((seconds - metadata().begin_seconds) * opened_->sample_rate);
  constexpr auto kMost = static_cast<double>(worker_link::kMostSamples);
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
  // The part of the range before sample 0 is ignored. An empty range needs no
  // worker.
  const int64_t first = std::max<int64_t>(SampleAt(start_seconds), 0);
  const int64_t end =
      stop_seconds ? SampleAt(*stop_seconds) : worker_link::kMostSamples;
  if (stop_seconds && (start_seconds == *stop_seconds || end == first)) {
    return Describe(start_seconds);
  }
  Channels channels;
  if (end > first) {
    ASSIGN_OR_RETURN(channels, Fetch(first, end - first));
  }
  if (channels.empty() && first == 0 && end > 0) {
    return Describe(metadata().begin_seconds);  // a stream without samples
  }
  if (channels.empty()) {
    const std::string from =
        std::isinf(start_seconds)
            ? " before "
            : " between " + std::to_string(start_seconds) + " s and ";
    return Status(
        Code::kOutOfRange,
        input_.name() + " has no sample" + from +
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
  // The decoder of Codec 2 adds noise from a generator that is global in the
  // process, and that a new decoder would continue. So going back needs a new
  // worker. fetched_end_ is at its maximum until this fetch succeeds, so that
  // the fetch after a failure counts as going back, too.
  const bool goes_back =
      first < std::exchange(fetched_end_, std::numeric_limits<int64_t>::max());
  if (goes_back && metadata().codec == "codec2") recovery_.DropWorker();
  const auto have = [&] {
    return channels.empty() ? 0 : static_cast<int64_t>(channels[0].size());
  };
  for (bool more = true; more && have() < count;) {
    const auto wanted = static_cast<uint64_t>(first + have());
    const auto fetch = [&]() -> Result<bool> {
      // All samples of one call must be from one device.
      if (std::exchange(device_changed_, false)) channels.clear();
      return FetchSome(first + have(), count - have(), channels);
    };
    ASSIGN_OR_RETURN(
        more, recovery_.Run(WorkerRecovery::Step::kFrameAt, wanted, fetch));
    RETURN_IF_ERROR(CheckDamage(first, first + count));
  }
  if (have() < count && input_.lost_bytes() > 0) {
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
  if (samples * opened_->channels * sizeof(float) <= limits_.session_bytes) {
    return Status();
  }
  return Status(Code::kResourceExhausted,
                "the samples that were asked for are too many; ask for less "
                "of " +
                    input_.name() + " at once, or raise " +
                    ipc::LimitName("session_bytes"));
}

Result<bool> AudioSession::FetchSome(int64_t first, int64_t count,
                                     Channels& channels) {
  if (!playing_) RETURN_IF_ERROR(audio_->Play(first, count));
  playing_ = true;
  ASSIGN_OR_RETURN(const worker_link::AudioEvent event, audio_->Await());
  if (const auto* lost = std::get_if<ipc::LostSamples>(&event)) {
    damage_.Add(*lost);
    return true;
  }
  const auto* published = std::get_if<worker_link::PublishedSamples>(&event);
  if (published == nullptr) return false;
  RETURN_IF_ERROR(Append(*published, count, channels));
  return true;
}

Status AudioSession::Append(const worker_link::PublishedSamples& published,
                            int64_t count, Channels& channels) {
  if (channels.empty()) {
    channels.resize(opened_->channels);
    const auto room = static_cast<size_t>(
        std::min<int64_t>(count, kMostReservedSamples / opened_->channels));
    for (std::vector<float>& channel : channels) channel.reserve(room);
    // SamplesPlayedInRange() appends the other channels to the first one.
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
  recovery_.Progressed();
  return Status();
}

Status AudioSession::CheckDamage(int64_t first, int64_t end) const {
  if (options_.on_corrupt != OnCorrupt::kError) return Status();
  const auto found = damage_.FirstIn(first, end);
  if (!found) return Status();
  const DamagedSamples damage =
      frames::Describe(*found, metadata().begin_seconds, opened_->sample_rate);
  std::string text = input_.name() + ": samples " +
                     std::to_string(damage.first_sample) + " to " +
                     std::to_string(damage.first_sample + damage.samples - 1) +
                     ", " + std::to_string(damage.begin_seconds) + " s to " +
                     std::to_string(damage.end_seconds) + " s";
  if (damage.first_byte) {
    text += ", byte " + std::to_string(*damage.first_byte) + " of the file,";
  }
  text += " are damaged";
  const std::string shortened = Shortened(input_.bytes(), input_.lost_bytes());
  if (found->declared_size >= 0) {
    text +=
        ": the file is cut off, " +
        SizesOfCut(metadata().container, found->declared_size, input_.bytes());
    if (damage.estimated) {
      text += DurationOfCut(metadata().container, metadata());
    }
  } else if (found->declared_samples >= 0) {
    text += ": the file is cut off, its header says " +
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
