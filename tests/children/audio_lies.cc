// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Opened = schema::OpenedAudio::Builder;
using Samples = schema::PublishedSamples::Builder;
using Reply = schema::Reply::Builder;

LyingSession::Lie WhenOpened(void (*change)(Opened)) {
  return {Step::kOpen, [change](Session& s) { s.ReplyOpenedAudio(change); }};
}

// Returns the lie that stream `index` of two in an MP4 file has this codec.
LyingSession::Lie WhenOpenedAs(const char* codec, int32_t index) {
  return {Step::kOpen, [codec, index](Session& s) {
            s.ReplyOpenedAudio([&](Opened o) {
              o.setStreamCount(2);
              o.setStreamIndex(index);
              o.setContainer("mov,mp4,m4a,3gp,3g2,mj2");
              o.setCodec(codec);
            });
            s.GoOn();
          }};
}

// Returns the lie that changes the fourth block of samples.
LyingSession::Lie OfSamples(void (*change)(Session&, Samples)) {
  return {Step::kFrame, [change](Session& s) {
            s.PublishSamples([&](Samples samples) { change(s, samples); });
          }};
}

void PublishNotANumber(Session& s) {
  const auto slot = s.grants().front().first;
  s.PublishSamples();
  auto* const samples =
      reinterpret_cast<float*>(s.pool().data() + slot * s.slot_bytes());
  samples[0] = std::nanf("");
  samples[1] = std::numeric_limits<float>::infinity();
  s.GoOn();
}

const std::map<std::string_view, LyingSession::Lie> kLies = {
    {"audio_open_silent", {Step::kOpen, [](Session&) {}}},
    {"audio_open_no_channels",
     WhenOpened([](Opened o) { o.setChannelCount(0); })},
    {"audio_open_many_channels", WhenOpened([](Opened o) {
       o.setChannelCount(65);
       o.setPublishedChannels(65);
     })},
    {"audio_open_all_channels", WhenOpened([](Opened o) {
       o.setChannelCount(UINT32_MAX);
       o.setPublishedChannels(UINT32_MAX);
     })},
    {"audio_open_no_rate", WhenOpened([](Opened o) {
       o.setSampleRate(0);
       o.setPublishedRate(0);
     })},
    {"audio_open_huge_rate", WhenOpened([](Opened o) {
       o.setSampleRate(UINT32_MAX);
       o.setPublishedRate(UINT32_MAX);
     })},
    {"audio_open_allowed", WhenOpenedAs("aac", 0)},
    {"audio_open_other_codec", WhenOpenedAs("wmav2", 0)},
    {"audio_open_other_stream", WhenOpenedAs("aac", 1)},
    {"audio_open_other_rate",
     WhenOpened([](Opened o) { o.setPublishedRate(kLyingRate + 1); })},
    {"audio_open_other_channels",
     WhenOpened([](Opened o) { o.setPublishedChannels(1); })},
    {"audio_open_no_time_base",
     WhenOpened([](Opened o) { o.getTimeBase().setDenominator(0); })},
    {"audio_open_stream_beyond",
     WhenOpened([](Opened o) { o.setStreamIndex(1); })},
    {"audio_open_stream_negative",
     WhenOpened([](Opened o) { o.setStreamIndex(-1); })},
    {"audio_open_many_streams",
     WhenOpened([](Opened o) { o.setStreamCount(UINT32_MAX); })},
    {"audio_open_video", {Step::kOpen, [](Session& s) { s.ReplyOpened(); }}},

    {"audio_silent", {Step::kPlay, [](Session&) {}}},
    {"audio_overlap", OfSamples([](Session&, Samples samples) {
       samples.setFirst(samples.getFirst() - kLyingBlock / 2);
     })},
    {"audio_backwards",
     OfSamples([](Session&, Samples samples) { samples.setFirst(0); })},
    {"audio_gap", OfSamples([](Session&, Samples samples) {
       samples.setFirst(samples.getFirst() + kLyingBlock);
     })},
    {"audio_before_the_first",
     OfSamples([](Session&, Samples samples) { samples.setFirst(INT64_MIN); })},
    {"audio_none",
     OfSamples([](Session&, Samples samples) { samples.setCount(0); })},
    {"audio_beyond_the_slot", OfSamples([](Session& s, Samples samples) {
       samples.setCount(static_cast<uint32_t>(
           s.slot_bytes() / (sizeof(float) * kLyingChannels) + 1));
     })},
    {"audio_all_samples", OfSamples([](Session&, Samples samples) {
       samples.setCount(UINT32_MAX);
     })},
    // 450 samples were asked for. This block would end at 500.
    {"audio_beyond_the_range", OfSamples([](Session&, Samples samples) {
       samples.setCount(kLyingBlock * 2);
     })},
    {"audio_slot_beyond",
     OfSamples([](Session&, Samples samples) { samples.setSlot(1'000'000); })},
    {"audio_wrong_generation", OfSamples([](Session&, Samples samples) {
       samples.setGeneration(samples.getGeneration() + 1);
     })},
    {"audio_of_the_future", OfSamples([](Session&, Samples samples) {
       samples.setEpoch(samples.getEpoch() + 1);
     })},
    // The host drops the samples of an old play, so the next ones have a gap.
    {"audio_of_the_past",
     {Step::kFrame,
      [](Session& s) {
        s.PublishSamples(
            [](Samples samples) { samples.setEpoch(samples.getEpoch() - 1); });
        s.GoOn();
      }}},
    {"audio_twice",
     {Step::kFrame,
      [](Session& s) {
        const auto [slot, generation] = s.grants().front();
        s.PublishSamples();
        s.PublishSamples(
            [slot = slot, generation = generation](Samples samples) {
              samples.setSlot(slot);
              samples.setGeneration(generation);
            });
      }}},
    {"audio_frame",
     {Step::kFrame,
      [](Session& s) { s.Publish([](auto frame) { frame.setEpoch(1); }); }}},
    {"audio_paused_early",
     {Step::kFrame,
      [](Session& s) {
        s.Reply([&](Reply reply) { reply.setPaused(s.epoch()); });
      }}},
    {"audio_unasked",
     {Step::kFrame,
      [](Session& s) { s.Reply([](Reply reply) { reply.setIndexEnd(); }); }}},
    {"audio_skipping_beyond",
     {Step::kPlay, [](Session& s) { s.ReplySkipping(s.position() + 1); }}},
    {"audio_skipping_negative",
     {Step::kPlay, [](Session& s) { s.ReplySkipping(-1); }}},
    {"audio_skipping_back",
     {Step::kPlay,
      [](Session& s) {
        s.ReplySkipping(s.position());
        s.ReplySkipping(0);
      }}},
    // Otherwise a worker could extend its deadline for ever.
    {"audio_skipping_storm",
     {Step::kPlay,
      [](Session& s) {
        for (;;) s.ReplySkipping(0);
      }}},

    {"audio_lost_negative",
     {Step::kPlay, [](Session& s) { s.ReplyLostSamples(-1, 1); }}},
    {"audio_lost_none",
     {Step::kPlay, [](Session& s) { s.ReplyLostSamples(0, 0); }}},
    {"audio_lost_beyond",
     {Step::kPlay, [](Session& s) { s.ReplyLostSamples(INT64_MAX, 1); }}},
    {"audio_lost_twice",
     {Step::kPlay,
      [](Session& s) {
        s.ReplyLostSamples(100'000, 10);
        s.ReplyLostSamples(100'000, 10);
      }}},
    {"audio_lost_unknown_sign",
     {Step::kPlay,
      [](Session& s) {
        s.ReplyLostSamples(0, 10, static_cast<schema::Sign>(99));
      }}},
    {"audio_note_of_samples",
     {Step::kPlay,
      [](Session& s) { s.ReplyLostSamples(0, 10, schema::Sign::GAP); }}},
    {"audio_note_negative",
     {Step::kPlay,
      [](Session& s) { s.ReplyLostSamples(-1, 0, schema::Sign::GAP); }}},
    // Neither damage nor a note is progress.
    {"audio_note_storm",
     {Step::kPlay,
      [](Session& s) {
        for (int64_t at = 0;; ++at) {
          s.ReplyLostSamples(at, 0, schema::Sign::GAP);
          sched_yield();
        }
      }}},
    {"audio_lost_storm",
     {Step::kPlay,
      [](Session& s) {
        for (int64_t at = 100'000;; at += 2) {
          s.ReplyLostSamples(at, 1);
          sched_yield();
        }
      }}},

    // Honest: a decoder may return such samples, so the host accepts them.
    {"audio_not_a_number", {Step::kFrame, PublishNotANumber}},
    {"audio_ends_early",
     {Step::kFrame,
      [](Session& s) {
        s.Reply([&](Reply reply) { reply.setEndOfStream(s.epoch()); });
      }}},
};

}  // namespace

std::optional<LyingSession::Lie> FindAudioLie(std::string_view name) {
  const auto found = kLies.find(name);
  if (found == kLies.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
