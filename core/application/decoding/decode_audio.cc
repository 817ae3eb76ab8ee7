// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/decode_audio.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/application/writers/output.h"
#include "core/application/writers/sample_writer.h"

namespace bulkhead::decoding {
namespace {

// The length of one request in seconds. 8 channels at 96 kHz need 25 MB.
constexpr double kSecondsAtOnce = 8;

// Returns the number of seconds to decode, if known.
std::optional<uint64_t> SecondsOf(const AudioMetadata& metadata,
                                  const Job& job) {
  const TimeRange times = job.times.value_or(TimeRange());
  const double begin =
      std::max(times.start.value_or(0), metadata.begin_seconds);
  double end = metadata.end_seconds.value_or(begin);
  if (times.stop) end = std::min(end, *times.stop);
  constexpr double kYear = 366.0 * 24 * 3600;
  if (!(end > begin && end - begin < kYear)) return std::nullopt;
  return static_cast<uint64_t>(end - begin);
}

// Decodes the chosen range piece by piece and writes it. `writer` is null for
// --format null.
Status WriteAll(AudioDecoder& audio, const Job& job,
                writers::SampleWriter* writer, ProgressCounter& counter) {
  const TimeRange times = job.times.value_or(TimeRange());
  const double begin = audio.metadata().begin_seconds;
  const double start = std::max(times.start.value_or(begin), begin);
  const double stop =
      times.stop.value_or(std::numeric_limits<double>::infinity());
  if (stop <= begin) {
    // The whole range is before the stream. The library returns an error, which
    // names the range that the user asked for.
    constexpr double kEver = -std::numeric_limits<double>::infinity();
    const auto none =
        audio.SamplesPlayedInRange(times.start.value_or(kEver), stop);
    if (!none) return none.error();
  }
  bool any = false;
  for (int i = 0;; ++i) {
    // A product instead of a running sum: each stop equals the next start
    // exactly, and rounding errors do not add up.
    const double from = start + i * kSecondsAtOnce;
    if (any && from >= stop) break;
    const double to = std::min(start + (i + 1) * kSecondsAtOnce, stop);
    Result<AudioSamples> samples = audio.SamplesPlayedInRange(from, to);
    if (!samples) {
      // After the first piece, kOutOfRange means the end of the stream.
      if (any && samples.error().code() == Code::kOutOfRange) break;
      return samples.error();
    }
    any = true;
    if (Status status = writer == nullptr ? Status() : writer->Write(*samples);
        !status.ok()) {
      return status;
    }
    counter.Advance(static_cast<uint64_t>(samples->duration_seconds));
  }
  return writer == nullptr ? Status() : writer->Finish();
}

}  // namespace

Outcome DecodeAudio(Host& host, const Source& source, const Job& job,
                    const Progress& progress) {
  Result<AudioDecoder> audio = host.OpenAudio(source, *job.audio);
  if (!audio) return {.status = audio.error()};
  // The output is opened after the input, so that a missing input does not
  // truncate an existing output.
  std::unique_ptr<writers::Output> output;
  std::optional<writers::SampleWriter> writer;
  if (job.format != "null") {
    const bool wav = job.format == "wav";
    if (!wav && job.format != "f32le") {
      return {.status = Status(Code::kInvalidArgument,
                               "audio has no format " + job.format)};
    }
    Result<std::unique_ptr<writers::Output>> opened =
        writers::Output::Open(job.output);
    if (!opened) return {.status = opened.error(), .output_failed = true};
    output = *std::move(opened);
    if (output->is_terminal()) {
      return {
          .status = Status(Code::kInvalidArgument,
                           "audio does not go to a terminal; name a file with "
                           "-o or send it to a program"),
          .output_failed = true};
    }
    writer.emplace(wav ? writers::SampleWriter::Format::kWav
                       : writers::SampleWriter::Format::kRaw,
                   *output);
  }
  ProgressCounter counter(progress, SecondsOf(audio->metadata(), job));
  Outcome outcome;
  outcome.status = WriteAll(*audio, job, writer ? &*writer : nullptr, counter);
  outcome.recovery = audio->recovery();
  outcome.damaged_samples = audio->damage();
  outcome.output_failed = output != nullptr && output->failed();
  outcome.reader_gone = output != nullptr && output->reader_gone();
  outcome.seconds = counter.seconds();
  // Flushes the samples decoded before a failure. The status keeps that
  // failure, so an error of Close() is dropped.
  if (output != nullptr && !outcome.status.ok() && !outcome.reader_gone) {
    (void)output->Close();
  }
  return outcome;
}

}  // namespace bulkhead::decoding
