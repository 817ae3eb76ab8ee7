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

#include "bulkhead/allowed_media.h"
#include "bulkhead/cancellation.h"
#include "bulkhead/damage.h"
#include "bulkhead/metadata.h"
#include "bulkhead/recovery.h"
#include "bulkhead/status.h"
#include "bulkhead/video_options.h"

namespace bulkhead {

namespace session {
class AudioSession;
}

// Options of Host::OpenAudio.
struct AudioOptions {
  // The device, named as in VideoOptions::device. A backend decodes audio if
  // its manifest says so.
  std::string device = {};
  // The absolute index of the stream in the container. nullopt: the audio
  // stream that `stream_choice` names.
  std::optional<int> stream_index = {};
  StreamChoice stream_choice = StreamChoice::kFirst;
  // The sample rate in Hz and the number of channels of the delivered samples.
  // nullopt: as in the stream.
  std::optional<int> sample_rate = {};
  std::optional<int> num_channels = {};
  // The treatment of damaged samples. kError: a call whose range holds damaged
  // samples fails with kBadInput; the message names the samples, the time, the
  // byte in the file and the sign (damage.h). kSkip: damaged samples are
  // silence. Undamaged samples are the same with both. The other values are
  // kInvalidArgument.
  OnCorrupt on_corrupt = OnCorrupt::kError;
  // The device on which the stream continues if the backend of `device` fails
  // for good, as VideoOptions::on_failure. The samples of the two devices are
  // not compared (Failover::Proof::kNone).
  std::string on_failure = {};
  // Names and values for the backend; Bulkhead passes them on unread.
  std::vector<std::pair<std::string, std::string>> backend_options = {};
  // Called for each recovery, also while the file is being opened.
  RecoveryObserver recovery_observer = {};
  // Ends the opening, and later the calls of the decoder, from another thread.
  // nullopt: only AudioDecoder::Cancel() ends calls, and nothing ends the
  // opening.
  std::optional<Cancellation> cancellation = {};
  // Narrows HostOptions::allowed for this stream.
  AllowedMedia allowed = {};
};

// The metadata of an audio stream, from the container and the first samples.
// The worker reported these values: the host has checked that they are
// plausible and bounded, but they are only as true as the file and the backend.
// No index is made for audio, so begin_seconds_from_content is the only member
// of StreamTiming that comes from the content.
struct AudioMetadata : StreamTiming {
  int stream_index = 0;
  uint32_t stream_count = 0;  // Streams of every kind in the container.
  std::string container;
  std::string codec;
  std::string sample_format;  // The decoder's output: "s16", "fltp".
  // The sample rate in Hz and the channels of the stream, whatever the options
  // say.
  uint32_t sample_rate = 0;
  uint32_t num_channels = 0;
  std::string channel_layout;  // "stereo", "5.1(side)"
  Ratio time_base;             // Seconds per tick of a timestamp.
  int64_t bit_rate = 0;        // Bits per second.
  std::string backend;
  std::string device;
};

// Consecutive samples of all channels, in memory that the caller owns. Integer
// samples become numbers in [-1, 1]; float samples are not clipped.
struct AudioSamples {
  // [channels, count()], contiguous: all samples of channel 0, then all
  // of channel 1 and so on.
  std::vector<float> data;
  uint32_t channels = 0;
  uint32_t sample_rate = 0;  // In Hz.
  double pts_seconds = 0;    // The time at which the first sample is played.
  double duration_seconds = 0;

  // Returns the number of samples per channel.
  size_t count() const { return channels ? data.size() / channels : 0; }
  // Returns the samples of one channel; requires index < channels.
  std::span<const float> channel(uint32_t index) const {
    return {data.data() + index * count(), count()};
  }
};

// A run of consecutive damaged samples, or a note (an oddity that loses no
// sample, damage.h), as the worker reported it.
struct DamagedSamples {
  DamageKind kind = DamageKind::kDamage;
  // The evidence for the damage of the first sample, or the subject of the
  // note.
  DamageSign sign = DamageSign::kUnknown;
  // The number of samples of each channel, at the delivered sample rate; 0 for
  // a note.
  uint64_t samples = 0;
  // The number of the first damaged sample, or of the sample to which a note
  // refers; the first sample of the stream has number 0.
  uint64_t first_sample = 0;
  double begin_seconds = 0;
  double end_seconds = 0;
  // The byte offsets in the file at which the first and the last damaged packet
  // begin; nullopt if unknown.
  std::optional<int64_t> first_byte;
  std::optional<int64_t> last_byte;
  std::string backend_says;  // As in DamagedRange.
  // True if `samples` is an estimate, because nothing in the file says how many
  // are lost. The samples after the damage may then have other numbers and
  // times than they would have in the undamaged file.
  bool estimated = false;
};

// One open audio stream, decoded in a sandboxed process of its own, the worker.
// When the worker dies, the decoder recovers as VideoDecoder does: the caller
// gets the same samples, later.
//
//     auto audio = host->OpenAudio("clip.mp4", {.sample_rate = 16000});
//     AudioSamples second = audio->SamplesPlayedInRange(1, 2).value();
//
// The samples are bit-identical to those that the ffmpeg command decodes. Time
// is counted in samples: sample n is played at begin_seconds + n / sample rate,
// even where the timestamps of the stream have gaps. Any range equals the same
// part of AllSamples(), sample for sample, also when resampled.
//
// Samples are damaged in these cases:
// - Their packet is in the file, and the decoder rejects it.
// - libavformat stops before them.
// - The header of MP4, Matroska, RIFF or FLAC declares them, but the file ends
//   before them.
// Damaged samples keep their place: OnCorrupt::kSkip delivers silence for them.
// The length of the silence comes from the next timestamp or from the codec's
// fixed duration of a packet; where there is neither, the length is an estimate
// (DamagedSamples::estimated). If a file becomes shorter while it is open, its
// missing end is damaged too. A gap in the timestamps is reported as a note and
// adds no silence.
//
// A range that follows the previous range continues the decoding. For a range
// further on, the samples in the gap are decoded as well, since only decoding
// shows how many there are. For an earlier range, the decoder seeks if the
// codec allows it (PCM, FLAC, ALAC, WavPack, MP3, Vorbis); for other codecs it
// decodes from the beginning.
//
// Not thread-safe, except for Cancel(): use one decoder from one thread at a
// time. Movable. Samples outlive the decoder.
class AudioDecoder {
 public:
  // Used by Host::OpenAudio.
  explicit AudioDecoder(std::unique_ptr<session::AudioSession> session);
  ~AudioDecoder();
  AudioDecoder(AudioDecoder&&) noexcept;
  AudioDecoder& operator=(AudioDecoder&&) noexcept;

  // Returns the metadata of the stream. Starts no worker. The reference is
  // valid until the decoder is destroyed or moved.
  const AudioMetadata& metadata() const;
  RecoveryStats recovery() const;

  // Both calls below return the errors that they name and the errors of every
  // call of VideoDecoder. kBadInput also means a range with damaged samples
  // (AudioOptions::on_corrupt).

  // Returns the whole stream. kResourceExhausted if the samples exceed
  // Limits::session_bytes: ask for ranges.
  Result<AudioSamples> AllSamples();
  // Returns the samples of [start, stop) in seconds, each bound rounded to the
  // nearest sample. A start before the beginning of the stream means the
  // beginning; no stop, or a stop after the end, means the end; start == stop
  // gives no samples. kInvalidArgument if start > stop or a bound is NaN,
  // kOutOfRange if nothing is played in the range, kResourceExhausted as for
  // AllSamples().
  Result<AudioSamples> SamplesPlayedInRange(
      double start_seconds, std::optional<double> stop_seconds = std::nullopt);

  // Returns the damage that any call has met so far, ascending, followed by the
  // notes (damage.h), at most a thousand of each. The list is complete only
  // after the last sample was delivered.
  std::vector<DamagedSamples> damage() const;

  // Ends the call of this decoder that is under way on another thread with
  // kCancelled; if there is none, ends the next call (cancellation.h). The
  // decoder stays usable. May be called on any thread and in a signal handler,
  // but not while the decoder is moved or destroyed.
  void Cancel();

  // Returns the pid of the worker as this process sees it, 0 if there is no
  // worker now. For operators and tests.
  int worker_pid() const;

 private:
  std::unique_ptr<session::AudioSession> session_;
};

}  // namespace bulkhead
