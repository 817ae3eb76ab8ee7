// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/examination.h"
#include "tools/cli/conformance/reference_clip.h"

namespace bulkhead::cli::conformance {
namespace {

// A codec, and the file and the encoder of ffmpeg that make a clip of it.
struct Sound {
  const char* codec;
  const char* file;
  const char* encoder;
};

constexpr Sound kSounds[] = {
    {"aac", "sound.m4a", "aac"},
    {"mp3", "sound.mp3", "libmp3lame"},
    {"flac", "sound.flac", "flac"},
    {"opus", "sound.opus", "libopus"},
    {"vorbis", "sound.ogg", "libvorbis"},
    {"pcm_s16le", "sound.wav", "pcm_s16le"},
};

// Compares a whole stream bit by bit with the samples that ffmpeg decodes.
Verdict CompareSamples(const AudioSamples& samples,
                       const std::vector<float>& wanted,
                       const std::string& clause) {
  if (samples.count() * samples.channels != wanted.size()) {
    return Verdict::Failed(
        clause, fmt::format("{} samples of {} channels came, and ffmpeg "
                            "decodes {} numbers",
                            samples.count(), samples.channels, wanted.size()));
  }
  for (size_t i = 0; i < samples.count(); ++i) {
    for (uint32_t channel = 0; channel < samples.channels; ++channel) {
      const float got = samples.channel(channel)[i];
      if (std::bit_cast<uint32_t>(got) ==
          std::bit_cast<uint32_t>(wanted[i * samples.channels + channel])) {
        continue;
      }
      return Verdict::Failed(
          clause, fmt::format("sample {} of channel {} is another one than "
                              "with ffmpeg",
                              i, channel));
    }
  }
  return Verdict::Passed();
}

// Decodes the whole stream twice with one decoder. The second pass starts from
// the beginning again, after the end of the first.
Verdict DecodeTwice(AudioDecoder& audio, const std::vector<float>& wanted) {
  for (const char* clause : {"frame-7", "close-1"}) {
    const auto samples = audio.AllSamples();
    if (!samples) return FailedBy(samples.error(), clause);
    Verdict verdict = CompareSamples(*samples, wanted, clause);
    if (!verdict.passed()) return verdict;
  }
  return Verdict::Passed();
}

// Repeats DecodeTwice() on each device with kFramesStayAndOneEnd.
Verdict ExamineEachDevice(Subject& subject, Host& host,
                          const ReferenceSound& sound) {
  for (const DeviceInfo& device : subject.backend().devices) {
    auto audio = host.OpenAudio(
        sound.path,
        {.device = device.name, .backend_options = kFramesStayAndOneEnd});
    // Only the checked device has to decode the codec.
    if (!audio && audio.error().code() == Code::kUnsupported) continue;
    if (!audio) return FailedBy(audio.error(), "life-4");
    Verdict verdict = DecodeTwice(*audio, sound.samples);
    if (!verdict.passed()) return verdict;
  }
  return Verdict::Passed();
}

// Makes and decodes a clip. A device that `declared` the codec must decode it.
Verdict DecodeSound(Subject& subject, const Sound& sound, bool declared) {
  const auto made = MakeSound(sound.encoder, sound.file, subject.kept());
  if (!made) return Verdict::NotTried(made.error().message());
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto audio = (*host)->OpenAudio(made->path, {.device = subject.device()});
  if (!audio && !declared && audio.error().code() == Code::kUnsupported) {
    return Verdict::NotTried("the device does not decode it");
  }
  if (!audio) return FailedBy(audio.error(), "device-4");
  Verdict verdict = DecodeTwice(*audio, made->samples);
  return verdict.passed() ? ExamineEachDevice(subject, **host, *made) : verdict;
}

// Returns whether the device lists the codec among its capabilities.
bool Declares(const Subject& subject, const std::string& codec) {
  return std::ranges::any_of(
      subject.DeclaredStreams("audio"), [&](const StreamCapability& stream) {
        return std::ranges::find(stream.codecs, codec) != stream.codecs.end();
      });
}

}  // namespace

std::vector<Check> AudioChecks(const Subject& subject) {
  const std::vector<std::string>& kinds = subject.backend().streams;
  if (std::ranges::find(kinds, "audio") == kinds.end()) return {};
  std::vector<Check> checks;
  for (const Sound& sound : kSounds) {
    const bool declared = Declares(subject, sound.codec);
    checks.push_back({fmt::format("decodes {}", sound.codec), "frame-7",
                      [sound, declared](Subject& checked) {
                        return DecodeSound(checked, sound, declared);
                      }});
  }
  return checks;
}

}  // namespace bulkhead::cli::conformance
