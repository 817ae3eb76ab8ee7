// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/audio_link.h"

#include <algorithm>
#include <utility>

#include "core/application/worker_link/step_deadline.h"
#include "core/base/clean_text.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxNameBytes = 64;

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

bool IsPlausible(uint32_t sample_rate, uint32_t channels) {
  return sample_rate > 0 && sample_rate <= kMaxSampleRate && channels > 0 &&
         channels <= kMaxChannels;
}

bool IsAsAsked(uint32_t published, std::optional<int> asked, uint32_t own) {
  return published == (asked ? static_cast<uint32_t>(*asked) : own);
}

}  // namespace

Result<OpenedAudio> ValidateOpenedAudio(
    schema::OpenedAudio::Reader opened_untrusted, const AudioOptions& options) {
  OpenedAudio opened;
  AudioMetadata& metadata = opened.metadata;
  metadata.sample_rate = opened_untrusted.getSampleRate();
  metadata.num_channels = opened_untrusted.getChannelCount();
  opened.sample_rate = opened_untrusted.getPublishedRate();
  opened.channels = opened_untrusted.getPublishedChannels();
  if (!IsPlausible(metadata.sample_rate, metadata.num_channels) ||
      !IsPlausible(opened.sample_rate, opened.channels)) {
    return Violation("it reported audio of an impossible rate or width");
  }
  if (!IsAsAsked(opened.sample_rate, options.sample_rate,
                 metadata.sample_rate) ||
      !IsAsAsked(opened.channels, options.num_channels,
                 metadata.num_channels)) {
    return Violation("it will publish other samples than were asked for");
  }
  metadata.stream_index = opened_untrusted.getStreamIndex();
  metadata.stream_count = opened_untrusted.getStreamCount();
  if (metadata.stream_index < 0 ||
      static_cast<uint32_t>(metadata.stream_index) >= metadata.stream_count) {
    return Violation("it reported a stream that does not exist");
  }
  const auto text = [](const capnp::Text::Reader& text_untrusted) {
    return CleanText(text_untrusted.cStr(), kMaxNameBytes);
  };
  metadata.container = text(opened_untrusted.getContainer());
  metadata.codec = text(opened_untrusted.getCodec());
  metadata.sample_format = text(opened_untrusted.getSampleFormat());
  metadata.channel_layout = text(opened_untrusted.getChannelLayout());
  metadata.time_base = {opened_untrusted.getTimeBase().getNumerator(),
                        opened_untrusted.getTimeBase().getDenominator()};
  if (metadata.time_base.numerator <= 0 ||
      metadata.time_base.denominator <= 0) {
    return Violation("it reported no time base");
  }
  const Ratio unit = metadata.time_base;
  metadata.begin_seconds_from_content =
      SecondsIfTold(opened_untrusted.getFirstPts(), unit);
  metadata.begin_seconds_from_header =
      SecondsIfTold(opened_untrusted.getStartFromHeader(), unit);
  metadata.duration_seconds_from_header =
      DurationIfTold(opened_untrusted.getDurationFromHeader(), unit);
  ChooseBest(
      metadata, std::nullopt,
      DurationIfTold(opened_untrusted.getContainerDuration(), kMicrosecond));
  metadata.bit_rate = std::max<int64_t>(opened_untrusted.getBitRate(), 0);
  return opened;
}

Result<OpenedAudio> AudioLink::Open(const AudioOptions& options,
                                    uint32_t incarnation, const Limits& limits,
                                    const MediaInput& input) {
  OpenedAudio opened;
  RETURN_IF_ERROR(stream_.Open(
      {.kind = schema::StreamKind::AUDIO,
       .stream_index = options.stream_index,
       .threads = 1,
       .backend_options = options.backend_options,
       .incarnation = incarnation,
       .limits = limits,
       .input = input},
      0,
      [&](schema::Open::Builder open) {
        open.setSampleRate(
            static_cast<uint32_t>(options.sample_rate.value_or(0)));
        open.setChannelCount(
            static_cast<uint32_t>(options.num_channels.value_or(0)));
      },
      [&](schema::Reply::Reader reply_untrusted) -> Status {
        if (!reply_untrusted.isOpenedAudio()) {
          return link_.Misbehaved("it answered open with something else");
        }
        auto validated =
            ValidateOpenedAudio(reply_untrusted.getOpenedAudio(), options);
        if (!validated) return link_.Misbehaved(validated.error().message());
        opened = *std::move(validated);
        if (opened.metadata.stream_count > limits.streams) {
          return link_.Misbehaved("it reported more streams than it may");
        }
        return Status();
      }));
  sample_rate_ = opened.sample_rate;
  channels_ = opened.channels;
  opened.metadata.backend = link_.started().backend;
  opened.metadata.device = link_.started().device;
  return opened;
}

Status AudioLink::Play(int64_t first_sample, int64_t count) {
  const uint32_t epoch = stream_.StartPlay();
  link_.SetLastRequest("play " + std::to_string(count) + " samples from " +
                       std::to_string(first_sample));
  next_ = first_sample;
  end_ = first_sample + count;
  skipping_ = false;
  return link_.Send(kSmallRequestWords, [&](schema::Request::Builder request) {
    auto play = request.initPlay();
    play.setEpoch(epoch);
    play.getStart().setSample(first_sample);
    play.setMaxFrames(static_cast<uint64_t>(count));
  });
}

Result<AudioEvent> AudioLink::Await() {
  std::optional<StepDeadline> deadline(link_.Within(&Deadlines::frame));
  for (;;) {
    RETURN_IF_ERROR(link_.GrantFreeSlots());
    std::optional<AudioEvent> event;
    bool nearer = false;
    RETURN_IF_ERROR(link_.Receive(
        *deadline, "decode the next samples",
        [&](schema::Reply::Reader reply_untrusted) -> Status {
          auto adopted = AdoptEventIfValid(reply_untrusted, &nearer);
          if (!adopted) return std::move(adopted).error();
          event = *std::move(adopted);
          return Status();
        }));
    if (event) return *std::move(event);
    if (nearer) deadline.emplace(link_.Within(&Deadlines::frame));
  }
}

Result<std::optional<AudioEvent>> AudioLink::AdoptEventIfValid(
    schema::Reply::Reader reply_untrusted, bool* nearer) {
  using Event = std::optional<AudioEvent>;
  if (reply_untrusted.isFrame() || reply_untrusted.isEntered() ||
      reply_untrusted.isUnseen()) {
    return link_.Misbehaved("it sent video for audio");
  }
  ASSIGN_OR_RETURN(const bool current, stream_.IsCurrent(reply_untrusted));
  if (reply_untrusted.isSamples()) {
    ASSIGN_OR_RETURN(PublishedSamples samples,
                     AdoptSamplesIfValid(reply_untrusted.getSamples()));
    if (!current) return Event();
    if (reply_untrusted.getSamples().getFirst() != next_ ||
        samples.count > end_ - next_) {
      return link_.Misbehaved("it published samples of another place");
    }
    next_ += samples.count;
    return Event(std::move(samples));
  }
  if (!current) return Event();
  if (reply_untrusted.isSkipping()) {
    RETURN_IF_ERROR(CheckSkipping(reply_untrusted.getSkipping().getReached()));
    *nearer = true;
    return Event();
  }
  stream_.EndPlay();
  if (reply_untrusted.isFailed()) {
    return link_.FailureOf(reply_untrusted.getFailed());
  }
  if (reply_untrusted.isEndOfStream()) return Event(SamplesEnd{true});
  if (next_ < end_) return link_.Misbehaved("it paused before it was done");
  return Event(SamplesEnd{false});
}

Status AudioLink::CheckSkipping(int64_t reached_untrusted) {
  if (reached_untrusted < 0 || reached_untrusted > next_ ||
      (skipping_ && reached_untrusted - reached_ < sample_rate_)) {
    return link_.Misbehaved("it says that it is nearer, and is not");
  }
  skipping_ = true;
  reached_ = reached_untrusted;
  return Status();
}

Result<PublishedSamples> AudioLink::AdoptSamplesIfValid(
    schema::PublishedSamples::Reader samples_untrusted) {
  // Accounted for whatever play the samples belong to.
  ASSIGN_OR_RETURN(auto lease,
                   link_.AdoptSlotIfValid(samples_untrusted.getSlot(),
                                          samples_untrusted.getGeneration()));
  const uint32_t count = samples_untrusted.getCount();
  const uint64_t fitting =
      link_.pool()->slot_bytes() / (sizeof(float) * channels_);
  if (count == 0 || count > fitting) {
    return link_.Misbehaved("it published samples that do not fit their slot");
  }
  return PublishedSamples{.lease = std::move(lease), .count = count};
}

}  // namespace bulkhead::session
