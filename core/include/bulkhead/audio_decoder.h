// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/metadata.h"
#include "bulkhead/status.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead {

namespace session {
class AudioSession;
}

struct AudioOptions {
  // As of VideoOptions. A backend decodes audio if it says so in its manifest.
  std::string device;
  // Absolute index in the container; nullopt: the first audio stream.
  std::optional<int> stream_index;
  // Of the samples that are delivered; nullopt: as in the stream.
  std::optional<int> sample_rate;
  std::optional<int> num_channels;
  // For the backend, uninterpreted here.
  std::vector<std::pair<std::string, std::string>> backend_options;
  // Told of each recovery, also of those while the file is opened.
  RecoveryObserver recovery_observer;
};

// What the container and the first samples tell. The worker said so: plausible,
// bounded, but only as true as the file and the backend. Of the content no more
// is told than when the first sample is played; frames are not counted.
struct AudioMetadata : StreamTiming {
  int stream_index = 0;
  uint32_t stream_count = 0;
  std::string container;
  std::string codec;
  std::string sample_format;  // of the decoder: "s16", "fltp"
  // Of the stream, whatever the options say.
  uint32_t sample_rate = 0;
  uint32_t num_channels = 0;
  std::string channel_layout;  // "stereo", "5.1(side)"
  Ratio time_base;
  int64_t bit_rate = 0;
  std::string backend;
  std::string device;
};

// Consecutive samples, [channels, count] and contiguous. Integers of the file
// become numbers in [-1, 1]; what a file holds as floats is not clipped.
struct AudioSamples {
  std::vector<float> data;
  uint32_t channels = 0;
  uint32_t sample_rate = 0;
  double pts_seconds = 0;  // of the first
  double duration_seconds = 0;

  size_t count() const { return channels ? data.size() / channels : 0; }
  std::span<const float> channel(uint32_t index) const {
    return {data.data() + index * count(), count()};
  }
};

// One open stream of audio, decoded in a sandboxed process of its own. Deaths
// of that process are survived, and counted, as by VideoDecoder: the caller
// gets the same samples, later.
//
//     auto audio = host->OpenAudio("clip.mp4", {.sample_rate = 16000});
//     AudioSamples second = audio->SamplesPlayedInRange(1, 2).value();
//
// Samples are, bit for bit, what the ffmpeg command decodes. Time is counted in
// samples from the first on: sample n is played at begin_seconds + n / rate,
// also where a stream's timestamps have gaps. Any range equals that part of
// AllSamples(), sample for sample, also resampled.
//
// A range that follows the last one goes on from there. For one further on,
// what lies between is decoded too, since nothing else tells where a sample is;
// places that were decoded before are found at once where the codec allows it
// (PCM, FLAC, ALAC, WavPack, MP3, Vorbis), and from the beginning otherwise.
//
// Not thread-safe: one thread at a time. Movable.
class AudioDecoder {
 public:
  explicit AudioDecoder(std::unique_ptr<session::AudioSession> session);
  ~AudioDecoder();
  AudioDecoder(AudioDecoder&&) noexcept;
  AudioDecoder& operator=(AudioDecoder&&) noexcept;

  const AudioMetadata& metadata() const;
  RecoveryStats recovery() const;

  // kResourceExhausted beyond Limits::session_bytes: ask for ranges.
  Result<AudioSamples> AllSamples();
  // Those of [start, stop), each bound rounded to the nearest sample. A start
  // before the stream's is its beginning, a stop beyond its end, or none, its
  // end; start == stop gives no samples. kInvalidArgument: start > stop;
  // kOutOfRange: nothing is played in that range.
  Result<AudioSamples> SamplesPlayedInRange(
      double start_seconds, std::optional<double> stop_seconds = std::nullopt);

  // Pid of the worker as this process sees it; for operators and tests.
  int worker_pid() const;

 private:
  std::unique_ptr<session::AudioSession> session_;
};

}  // namespace bulkhead
