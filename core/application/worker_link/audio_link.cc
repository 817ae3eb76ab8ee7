// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/audio_link.h"

#include <utility>

#include "core/application/worker_link/slot_grants.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/allowed_media.h"
#include "core/worker_protocol/published_output.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/stream_index.h"

namespace bulkhead::worker_link {

namespace schema = ipc::schema;
using ipc::LostSamples;

Result<worker_protocol::OpenedAudio> AudioLink::Open(
    const AudioOptions& options, uint32_t incarnation, const Limits& limits,
    const MediaInput& input) {
  worker_protocol::OpenedAudio opened;
  media_bytes_ = input.bytes();
  RETURN_IF_ERROR(OpenStream(
      link_,
      {.kind = schema::StreamKind::AUDIO,
       .stream_index = options.stream_index,
       .stream_choice = options.stream_choice,
       .threads = 1,
       .backend_options = options.backend_options,
       .incarnation = incarnation,
       .name_hint = input.name_hint(),
       .media_bytes = input.bytes(),
       .limits = limits,
       .allowed = options.allowed},
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
        auto validated = worker_protocol::ValidateOpenedAudio(
            reply_untrusted.getOpenedAudio(), options, limits);
        if (!validated) return link_.Misbehaved(validated.error().message());
        opened = *std::move(validated);
        const Status asked = worker_protocol::CheckAskedStream(
            options.stream_index, opened.metadata.stream_index);
        if (!asked.ok()) return link_.Misbehaved(asked.message());
        const Status allowed = worker_protocol::CheckOpened(
            options.allowed, opened.metadata.container, opened.metadata.codec);
        if (!allowed.ok()) return link_.Misbehaved(allowed.message());
        return Status();
      }));
  sample_rate_ = opened.sample_rate;
  channels_ = opened.channels;
  opened.metadata.backend = link_.started().backend;
  opened.metadata.device = link_.started().device;
  return opened;
}

Status AudioLink::Play(int64_t first_sample, int64_t count) {
  play_ = {.epoch = play_.epoch + 1, .playing = true};
  link_.SetLastRequest("play " + std::to_string(count) + " samples from " +
                       std::to_string(first_sample));
  next_ = first_sample;
  end_ = first_sample + count;
  skipping_ = false;
  deadline_.reset();
  told_damage_ = false;
  return link_.Send(worker_protocol::kSmallRequestWords,
                    [&](schema::Request::Builder request) {
                      auto play = request.initPlay();
                      play.setEpoch(play_.epoch);
                      play.getStart().setSample(first_sample);
                      play.setMaxFrames(static_cast<uint64_t>(count));
                    });
}

Result<AudioEvent> AudioLink::Await() {
  // Each event except damage is progress and renews the deadline. A worker can
  // report damage without decoding anything.
  if (std::exchange(told_damage_, false)) {
    // The deadline stays as it is.
  } else if (deadline_) {
    link_.Renew(*deadline_, &Deadlines::frame);
  } else {
    deadline_.emplace(link_.Within(&Deadlines::frame));
  }
  for (;;) {
    RETURN_IF_ERROR(GrantFree(link_, UINT64_MAX));
    std::optional<AudioEvent> event;
    bool nearer = false;
    RETURN_IF_ERROR(link_.Receive(
        *deadline_, "decode the next samples",
        [&](schema::Reply::Reader reply_untrusted) -> Status {
          auto adopted = AdoptEventIfValid(reply_untrusted, &nearer);
          if (!adopted) return std::move(adopted).error();
          event = *std::move(adopted);
          return Status();
        }));
    if (event) return *std::move(event);
    if (nearer) link_.Renew(*deadline_, &Deadlines::frame);
  }
}

Result<std::optional<AudioEvent>> AudioLink::AdoptEventIfValid(
    schema::Reply::Reader reply_untrusted, bool* nearer) {
  using Event = std::optional<AudioEvent>;
  if (reply_untrusted.isFrame() || reply_untrusted.isEntered() ||
      reply_untrusted.isUnseen()) {
    return link_.Misbehaved("it sent video for audio");
  }
  ASSIGN_OR_RETURN(const bool current, IsOf(play_, link_, reply_untrusted));
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
  if (reply_untrusted.isLostSamples()) {
    // Damage is reported only once, so a report that belongs to an earlier play
    // must not be dropped.
    ASSIGN_OR_RETURN(LostSamples lost,
                     AdoptLostIfValid(reply_untrusted.getLostSamples()));
    told_damage_ = true;
    return Event(std::move(lost));
  }
  if (!current) return Event();
  if (reply_untrusted.isSkipping()) {
    RETURN_IF_ERROR(CheckSkipping(reply_untrusted.getSkipping().getReached()));
    *nearer = true;
    return Event();
  }
  play_.playing = false;
  if (reply_untrusted.isFailed()) {
    return link_.FailureOf(reply_untrusted.getFailed());
  }
  if (reply_untrusted.isEndOfStream()) return Event(SamplesEnd{});
  if (next_ < end_) return link_.Misbehaved("it paused before it was done");
  return Event(SamplesEnd{});
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

Result<LostSamples> AudioLink::AdoptLostIfValid(
    schema::LostSamples::Reader lost_untrusted) {
  const int64_t first = lost_untrusted.getFirst();
  const int64_t count = lost_untrusted.getCount();
  const auto sign = worker_protocol::SignIfKnown(lost_untrusted.getSign());
  if (!sign) return link_.Misbehaved("it reported damage of no known sign");
  if (ipc::IsNote(*sign)) {
    if (first < 0 || first > kMostSamples || count != 0) {
      return link_.Misbehaved("it reported a note of an impossible place");
    }
    return LostSamples{.first = first,
                       .sign = *sign,
                       .first_byte = lost_untrusted.getFirstByte(),
                       .last_byte = lost_untrusted.getLastByte()};
  }
  if (first < lost_until_ || count <= 0 || first > kMostSamples ||
      count > kMostSamples) {
    return link_.Misbehaved("it reported damage of an impossible place");
  }
  const int64_t declared = lost_untrusted.getDeclaredSize();
  if (declared >= 0 && declared <= media_bytes_) {
    return link_.Misbehaved("it reported a file that is not cut off as such");
  }
  const int64_t samples = lost_untrusted.getDeclaredSamples();
  if (samples >= 0 && samples <= first) {
    return link_.Misbehaved("it reported a stream that is not cut off as such");
  }
  lost_until_ = first + count;
  return LostSamples{
      .first = first,
      .count = count,
      .sign = *sign,
      .first_byte = lost_untrusted.getFirstByte(),
      .last_byte = lost_untrusted.getLastByte(),
      .words = worker_protocol::CleanWords(lost_untrusted.getWords()),
      .estimated = lost_untrusted.getEstimated(),
      .declared_size = declared,
      .declared_samples = samples};
}

Result<PublishedSamples> AudioLink::AdoptSamplesIfValid(
    schema::PublishedSamples::Reader samples_untrusted) {
  // Samples of an earlier play occupy a slot as well, so the ledger must record
  // them before they are dropped.
  auto lease = worker_protocol::AdoptSamplesIfValid(samples_untrusted,
                                                    channels_, link_.pool());
  if (!lease) return link_.Misbehaved(lease.error().message());
  return PublishedSamples{.lease = *std::move(lease),
                          .count = samples_untrusted.getCount()};
}

}  // namespace bulkhead::worker_link
