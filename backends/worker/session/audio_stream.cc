// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/audio_stream.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/sdk/bulkhead_backend.hpp"
#include "backends/worker/media/audio/resampler_context.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/damage_sign.h"
#include "ipc/try.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

// Returns true, the result of a step after which the play may go on, or the
// error of `sent`.
ipc::Expected<bool> Done(ipc::Expected<void> sent) {
  IPC_TRY(std::move(sent));
  return true;
}

}  // namespace

ipc::Expected<std::unique_ptr<Stream>> AudioStream::Open(
    const StreamContext& context, schema::Open::Reader open) {
  const uint32_t kinds = sdk::TakeSized(context.backend).stream_kinds;
  if ((kinds & BULKHEAD_DECODES_AUDIO) == 0) {
    return ipc::Fail(ipc::Code::kUnsupported,
                     std::string("backend ") + context.backend.name +
                         " does not decode audio; choose another device");
  }
  std::unique_ptr<AudioStream> stream(new AudioStream(context, open));
  IPC_TRY(stream->OpenInput(open));
  return stream;
}

AudioStream::AudioStream(const StreamContext& context,
                         schema::Open::Reader open)
    : context_(context), opening_(open) {}

ipc::Expected<void> AudioStream::OpenInput(schema::Open::Reader open) {
  IPC_ASSIGN_OR_RETURN(
      auto demuxer,
      demux::Demuxer::Open(context_.media, open.getMediaBytes(),
                           open.getNameHint().cStr(), StreamToOpen(open),
                           demux::StreamKind::kAudio, DemuxerLimitsOf(open)));
  demux::Demuxer& source = *demuxer;
  IPC_ASSIGN_OR_RETURN(
      auto reader,
      audio::AudioReader::Open(std::move(demuxer), [this, &source] {
        return opening_.Open(context_.backend, *context_.buffers.runtime(),
                             source.codec_parameters());
      }));
  IPC_ASSIGN_OR_RETURN(
      renderer_,
      audio::AudioRenderer::Create(
          std::move(reader), static_cast<int32_t>(open.getSampleRate()),
          static_cast<int32_t>(open.getChannelCount())));
  return Describe();
}

ipc::Expected<void> AudioStream::Describe() {
  const audio::AudioReader& reader = renderer_->reader();
  const demux::StreamFacts& facts = reader.demuxer().facts();
  const audio::AudioFormat& decoded = reader.converter().format();
  return context_.replies.Send(
      kSmallReplyWords + 64, [&](schema::Reply::Builder reply) {
        auto opened = reply.initOpenedAudio();
        opened.setStreamIndex(facts.stream_index);
        opened.setStreamCount(facts.stream_count);
        opened.setCodec(facts.codec);
        opened.setContainer(facts.container.substr(0, 128));
        opened.setSampleFormat(reader.converter().sample_format());
        opened.setSampleRate(static_cast<uint32_t>(decoded.sample_rate));
        opened.setChannelCount(static_cast<uint32_t>(decoded.channels));
        opened.setChannelLayout(audio::NameOfChannels(decoded).substr(0, 128));
        opened.setPublishedRate(
            static_cast<uint32_t>(renderer_->format().sample_rate));
        opened.setPublishedChannels(
            static_cast<uint32_t>(renderer_->format().channels));
        auto time_base = opened.initTimeBase();
        time_base.setNumerator(facts.time_base.numerator);
        time_base.setDenominator(facts.time_base.denominator);
        opened.setFirstPts(reader.first_pts());
        opened.setDurationFromHeader(facts.duration);
        opened.setContainerDuration(facts.container_microseconds);
        opened.setStartFromHeader(facts.start);
        opened.setBitRate(facts.bit_rate);
      });
}

ipc::Expected<void> AudioStream::Scan() {
  return ipc::Fail(ipc::Code::kInternal, "audio has no index of frames");
}

void AudioStream::AttachPool(std::shared_ptr<decode::SlotPool> pool) {
  pool_ = std::move(pool);
}

void AudioStream::Grant(uint32_t slot, uint32_t generation) {
  if (pool_) pool_->Grant(slot, generation);
}

ipc::Expected<void> AudioStream::StartPlay(schema::Play::Reader play) {
  const auto start = play.getStart();
  if (!start.isSample()) {
    return ipc::Fail(ipc::Code::kInternal, "audio starts at a sample");
  }
  const int64_t first = start.getSample();
  // Keeps first + count from overflowing.
  const auto most =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - first);
  const auto count =
      static_cast<int64_t>(std::min<uint64_t>(play.getMaxFrames(), most));
  IPC_TRY(renderer_->Seek(first));
  play_ = {.epoch = play.getEpoch(),
           .active = true,
           .next = first,
           .end = first + count,
           .told = renderer_->reached()};
  return {};
}

ipc::Expected<bool> AudioStream::Advance() {
  if (play_.next == play_.end) return EndPlay(/*at_end_of_stream=*/false);
  if (pool_->free_count() == 0) return false;
  const auto channels = static_cast<size_t>(renderer_->format().channels);
  const auto capacity =
      static_cast<int64_t>(pool_->slot_bytes() / (channels * sizeof(float)));
  const int64_t until = play_.next + std::min(play_.end - play_.next, capacity);
  IPC_ASSIGN_OR_RETURN(const auto samples, renderer_->Next(until));
  IPC_TRY(ReportLost());
  if (!samples) return EndPlay(/*at_end_of_stream=*/true);
  // A decoding step may yield no sample, as before the first one of the play.
  return samples->count > 0 ? Publish(*samples) : ReportProgress();
}

ipc::Expected<bool> AudioStream::Publish(const audio::AudioSamples& samples) {
  const auto slot = pool_->Take();
  if (!slot) return false;
  std::memcpy(slot->data, samples.data.data(),
              samples.data.size() * sizeof(float));
  pool_->Publish(slot->index);
  play_.next = samples.end();
  return Done(context_.replies.Send(
      kSmallReplyWords, [&](schema::Reply::Builder reply) {
        auto published = reply.initSamples();
        published.setEpoch(play_.epoch);
        published.setSlot(slot->index);
        published.setGeneration(slot->generation);
        published.setFirst(samples.first);
        published.setCount(static_cast<uint32_t>(samples.count));
      }));
}

ipc::Expected<void> AudioStream::ReportLost() {
  const int64_t decoded_rate =
      renderer_->reader().converter().format().sample_rate;
  const int64_t output_rate = renderer_->format().sample_rate;
  for (const ipc::LostSamples& lost : renderer_->TakeLost()) {
    // Converts the range to the output's rate and rounds it outward, since a
    // resampler mixes neighbouring samples. Leaves out samples that were
    // reported before: once the reader's table of packets is full, decoding a
    // part again finds its damage and notes again.
    const bool is_note = ipc::IsNote(lost.sign);
    int64_t& reported_until = is_note ? noted_until_ : lost_until_;
    auto first =
        static_cast<int64_t>(__int128{lost.first} * output_rate / decoded_rate);
    const auto end =
        is_note ? first + 1
                : static_cast<int64_t>(
                      (__int128{lost.first + lost.count} * output_rate +
                       decoded_rate - 1) /
                      decoded_rate);
    first = std::max(first, reported_until);
    if (end <= first) continue;
    reported_until = end;
    IPC_TRY(context_.replies.Send(
        kSmallReplyWords + kComplaintWords, [&](schema::Reply::Builder reply) {
          auto told = reply.initLostSamples();
          told.setEpoch(play_.epoch);
          told.setFirst(first);
          told.setCount(is_note ? 0 : end - first);
          told.setSign(SignOf(lost.sign));
          told.setFirstByte(lost.first_byte);
          told.setLastByte(lost.last_byte);
          told.setEstimated(lost.estimated);
          told.setDeclaredSize(lost.declared_size);
          if (lost.declared_samples >= 0) told.setDeclaredSamples(end);
          told.setWords(lost.words.substr(0, kMostComplaintBytes));
        }));
  }
  return {};
}

ipc::Expected<bool> AudioStream::ReportProgress() {
  // Decoding up to a distant sample can take long. This heartbeat shows the
  // host that the worker does not hang. One message per second of audio is
  // enough, and none is needed after the play's first sample is reached.
  const int64_t reached = renderer_->reached();
  if (reached - play_.told < renderer_->format().sample_rate ||
      reached > play_.next) {
    return true;
  }
  play_.told = reached;
  return Done(context_.replies.Send(kSmallReplyWords,
                                    [&](schema::Reply::Builder reply) {
                                      auto skipping = reply.initSkipping();
                                      skipping.setEpoch(play_.epoch);
                                      skipping.setReached(reached);
                                    }));
}

ipc::Expected<bool> AudioStream::EndPlay(bool at_end_of_stream) {
  play_.active = false;
  return Done(context_.replies.Send(kSmallReplyWords,
                                    [&](schema::Reply::Builder reply) {
                                      if (at_end_of_stream) {
                                        reply.setEndOfStream(play_.epoch);
                                      } else {
                                        reply.setPaused(play_.epoch);
                                      }
                                    }));
}

uint32_t AudioStream::AbandonPlay() {
  play_.active = false;
  return play_.epoch;
}

}  // namespace bulkhead::worker::session
