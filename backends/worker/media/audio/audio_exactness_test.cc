// SPDX-License-Identifier: Apache-2.0
// Compares samples bit for bit with those that the ffmpeg command writes on
// this machine, and any part of a stream with the same part of the whole. The
// decoding is in this process, so that sanitizers see it; samples are decoded
// in a worker's, by tests/media:equals_ffmpeg_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/audio/audio_preroll.h"
#include "backends/worker/media/audio/audio_renderer.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/try.h"

namespace bulkhead::worker::audio {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

int64_t packets_sent = 0;  // to decoders, since a test set it to 0
// The timestamp of the first packet of the decoder that was opened last.
std::optional<int64_t> first_sent;

// Returns the cpu backend, which notes the packets.
const bulkhead_backend& CountingBackend() {
  static const bulkhead_backend kBackend = [] {
    bulkhead_backend backend = *bulkhead_cpu_backend();
    backend.send_packet = [](bulkhead_decoder* decoder,
                             const bulkhead_packet* packet) {
      packets_sent += packet != nullptr ? 1 : 0;
      if (packet != nullptr && !first_sent) first_sent = packet->pts;
      return bulkhead_cpu_backend()->send_packet(decoder, packet);
    };
    return backend;
  }();
  return kBackend;
}

ipc::Expected<std::unique_ptr<AudioRenderer>> OpenAudio(const std::string& path,
                                                        int32_t rate,
                                                        int32_t channels) {
  IPC_ASSIGN_OR_RETURN(auto demuxer,
                       OpenFile(path, -1, demux::StreamKind::kAudio));
  demux::Demuxer* source = demuxer.get();
  const auto open_decoder = [source] {
    static const bulkhead_runtime kRuntime = {
        .size = sizeof(kRuntime),
        .acquire_buffer = [](void*, const bulkhead_buffer_request*,
                             bulkhead_buffer*) {
          return BULKHEAD_UNSUPPORTED;
        }};
    const bulkhead_open_parameters parameters = {
        .size = sizeof(parameters),
        .codec = &source->codec_parameters(),
        .threads = 1,
        .incarnation = 1};
    first_sent.reset();
    return decode::Decoder::Open(CountingBackend(), parameters, kRuntime,
                                 std::chrono::seconds(60));
  };
  IPC_ASSIGN_OR_RETURN(auto reader,
                       AudioReader::Open(std::move(demuxer), open_decoder));
  return AudioRenderer::Create(std::move(reader), rate, channels);
}

// Returns interleaved samples, as ffmpeg writes them.
std::vector<float> Render(AudioRenderer& renderer, int64_t from, int64_t to) {
  std::vector<float> out;
  EXPECT_TRUE(renderer.Seek(from));
  for (int64_t next = from;;) {
    auto samples = renderer.Next(to);
    EXPECT_TRUE(samples);
    if (!samples || !*samples) return out;
    if ((*samples)->count == 0) continue;
    EXPECT_EQ((*samples)->first, next);
    next = (*samples)->end();
    for (size_t i = 0; i < (*samples)->count; ++i) {
      for (int32_t c = 0; c < (*samples)->channels; ++c) {
        out.push_back((*samples)->channel(c)[i]);
      }
    }
  }
}

// Compares bits and not values, so that NaNs compare equal.
void ExpectSame(const std::vector<float>& actual, const float* expected,
                size_t count, const std::string& what) {
  ASSERT_EQ(actual.size(), count) << what;
  if (count == 0) return;
  if (std::memcmp(actual.data(), expected, count * sizeof(float)) == 0) return;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(std::memcmp(&actual[i], &expected[i], sizeof(float)), 0)
        << what << ": value " << i << " is " << actual[i] << ", not "
        << expected[i];
  }
}

void ExpectSameAsFfmpeg(const std::string& path) {
  const auto expected = FfmpegSamples(path, "");
  auto renderer = OpenAudio(path, 0, 0);
  ASSERT_TRUE(renderer) << path << ": " << renderer.error().message;
  ExpectSame(Render(**renderer, 0, kEnd), expected.data(), expected.size(),
             path);
}

void ExpectPartsOfTheWhole(const std::string& path, int32_t rate,
                           int32_t channels) {
  auto opened = OpenAudio(path, rate, channels);
  ASSERT_TRUE(opened) << path << ": " << opened.error().message;
  AudioRenderer& renderer = **opened;
  const auto whole = Render(renderer, 0, kEnd);
  const auto width = static_cast<size_t>(renderer.format().channels);
  const auto count = static_cast<int64_t>(whole.size() / width);
  std::mt19937_64 random(7);
  for (int i = 0; i < 16 && count > 0; ++i) {
    const auto from = static_cast<int64_t>(random() % count);
    const int64_t length = std::min<int64_t>(random() % 5000, count - from);
    const std::string what = path + " at " + std::to_string(rate) +
                             " Hz: " + std::to_string(length) + " from " +
                             std::to_string(from) + " on";
    // Every other time with a new reader, which has never been anywhere else.
    auto fresh = i % 6 == 0 ? OpenAudio(path, rate, channels) : nullptr;
    AudioRenderer& by = fresh && *fresh ? **fresh : renderer;
    ExpectSame(Render(by, from, from + length), whole.data() + from * width,
               static_cast<size_t>(length) * width, what);
    if (testing::Test::HasFatalFailure()) return;
  }
  const int64_t last = std::max<int64_t>(count - 10, 0);
  ExpectSame(Render(renderer, last, kEnd), whole.data() + last * width,
             static_cast<size_t>(count - last) * width, path + ": the end");
  ExpectSame(Render(renderer, count, kEnd), nullptr, 0, path + ": after it");
}

struct Clip {
  std::string name;
  std::string encoding;
};

// Makes a clip of a tone with some noise, so that no two places are alike.
constexpr char kSource[] =
    "-f lavfi -i \"aevalsrc=exprs="
    "0.4*sin(t*900*(1+t/9))+0.2*(random(0)-0.5)|0.3*sin(t*333)+0.1*random(1)"
    ":s=44100:d=2\" ";

const std::vector<Clip>& Clips() {
  static const auto& clips = *new std::vector<Clip>{
      {"u8.wav", "-c:a pcm_u8"},
      {"s16.wav", "-c:a pcm_s16le"},
      {"s24.wav", "-c:a pcm_s24le"},
      {"s32.wav", "-c:a pcm_s32le"},
      {"f32.wav", "-c:a pcm_f32le"},
      {"f64.wav", "-c:a pcm_f64le"},
      {"mulaw.wav", "-c:a pcm_mulaw"},
      {"sixteen.wav", "-ac 16 -c:a pcm_s16le"},
      {"s16.aiff", "-c:a pcm_s16be"},
      {"s24.mkv", "-c:a pcm_s24le"},
      {"flac.flac", "-c:a flac"},
      {"flac24.mkv", "-c:a flac -sample_fmt s32"},
      {"flac.ogg", "-c:a flac"},
      {"alac.m4a", "-c:a alac"},
      {"wavpack.wv", "-c:a wavpack"},
      {"mp2.mp2", "-c:a mp2"},
      {"mp3.mp3", "-c:a libmp3lame -b:a 128k"},
      {"mp3_vbr.mp3", "-c:a libmp3lame -q:a 4"},
      {"mp3_slow.mp3", "-ar 8000 -ac 1 -c:a libmp3lame -b:a 8k"},
      {"mp3.mkv", "-c:a libmp3lame -b:a 320k"},
      {"mp3.mp4", "-c:a libmp3lame -b:a 64k"},
      {"mp3.avi", "-c:a libmp3lame -b:a 64k"},
      {"aac.m4a", "-c:a aac"},
      {"aac.aac", "-c:a aac"},
      {"aac.ts", "-c:a aac"},
      {"opus.opus", "-ar 48000 -c:a libopus"},
      {"opus.webm", "-ar 48000 -c:a libopus"},
      {"vorbis.ogg", "-c:a libvorbis"},
      {"vorbis.mkv", "-c:a libvorbis -q:a 1"},
      {"vorbis_native.ogg", "-c:a vorbis -strict -2"},
      {"ac3.ac3", "-ar 48000 -c:a ac3"},
      {"eac3.mp4", "-ar 48000 -c:a eac3"},
      {"wma.asf", "-c:a wmav2"},
      {"adpcm.wav", "-c:a adpcm_ima_wav"},
      {"mp3.swf", "-c:a libmp3lame -b:a 64k"},
      {"fragmented.mp4", "-c:a aac -movflags frag_keyframe+empty_moov"},
      {"tiny.wav", "-af atrim=end_sample=7 -c:a pcm_s16le"},
  };
  return clips;
}

class GeneratedAudio : public testing::TestWithParam<Clip> {
 protected:
  void SetUp() override {
    if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
    path_ = TemporaryPath(GetParam().name);
    if (std::filesystem::exists(path_)) return;
    if (!RunFfmpeg(kSource + GetParam().encoding + " '" + path_ + "'")) {
      GTEST_SKIP() << "this ffmpeg cannot encode " << GetParam().name;
    }
  }

  std::string path_;
};

TEST_P(GeneratedAudio, DecodesAsFfmpegDoes) { ExpectSameAsFfmpeg(path_); }

TEST_P(GeneratedAudio, EveryPartEqualsThatOfTheWhole) {
  ExpectPartsOfTheWhole(path_, 0, 0);
}

TEST_P(GeneratedAudio, EveryPartEqualsThatOfTheWholeResampled) {
  ExpectPartsOfTheWhole(path_, 48000, 0);
  ExpectPartsOfTheWhole(path_, 16000, 1);
  ExpectPartsOfTheWhole(path_, 44099, 0);
}

// libavformat says what to leave out at the end of Ogg only to those who have
// read the packets before. (149 samples came instead of 10.)
TEST_P(GeneratedAudio, TheEndIsTheSameBehindAJump) {
  for (const int32_t rate : {0, 32000}) {
    auto straight = OpenAudio(path_, rate, 0);
    ASSERT_TRUE(straight);
    const auto whole = Render(**straight, 0, kEnd);
    const auto width = static_cast<size_t>((*straight)->format().channels);
    const auto count = static_cast<int64_t>(whole.size() / width);
    if (count < 20'000) return;
    auto renderer = OpenAudio(path_, rate, 0);
    ASSERT_TRUE(renderer);
    for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{
             {count * 94 / 100, count * 97 / 100},
             {1323, 5175},
             {count - 10, kEnd}}) {
      ExpectSame(Render(**renderer, from, to), whole.data() + from * width,
                 static_cast<size_t>(std::min(to, count) - from) * width,
                 path_ + " from " + std::to_string(from) + " on");
    }
  }
}

TEST_P(GeneratedAudio, ResamplesAsFfmpegDoes) {
  // ffmpeg keeps more than 32 bits of 64-bit floats between its steps.
  if (GetParam().name == "f64.wav") return;
  const auto expected = FfmpegSamples(path_, " -ar 48000 -ac 2");
  auto renderer = OpenAudio(path_, 48000, 2);
  ASSERT_TRUE(renderer);
  ExpectSame(Render(**renderer, 0, kEnd), expected.data(), expected.size(),
             path_);
}

// Uses containers that can seek to single packets, which tests the table of
// audio_preroll.h.
TEST_P(GeneratedAudio, APlaceThatIsKnownIsFoundAgain) {
  auto renderer = OpenAudio(path_, 0, 0);
  ASSERT_TRUE(renderer);
  const auto whole = Render(**renderer, 0, kEnd);
  const demux::StreamFacts& facts = (*renderer)->reader().demuxer().facts();
  const auto width = static_cast<size_t>((*renderer)->format().channels);
  const auto count = static_cast<int64_t>(whole.size() / width);
  const std::optional<int64_t> beginning = first_sent;
  int jumps = 0;  // seeks after which decoding did not begin at the beginning
  for (int64_t from = count - 1; from >= 0; from -= count / 61 + 1) {
    const int64_t to = std::min<int64_t>(from + 3000, count);
    ExpectSame(Render(**renderer, from, to), whole.data() + from * width,
               static_cast<size_t>(to - from) * width, path_);
    if (HasFatalFailure()) return;
    jumps += first_sent != beginning ? 1 : 0;
  }
  RecordProperty("jumps", jumps);
  // Ogg files seek by pages, and swf files cannot seek.
  const bool known =
      PrerollPackets(facts.codec) && facts.container != "swf" && count > 10;
  EXPECT_EQ(jumps > 20, known) << jumps;
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedAudio, testing::ValuesIn(Clips()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// Also of codecs that no jump leads into, and where a range ends within a
// packet.
TEST(ReadingOn, DecodesEachPacketOnce) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  for (const Clip& clip : {Clip{"on.m4a", "-c:a aac"},
                           Clip{"on.opus", "-ar 48000 -c:a libopus"}}) {
    const std::string path = TemporaryPath(clip.name);
    if (!RunFfmpeg(kSource + clip.encoding + " '" + path + "'")) {
      GTEST_SKIP() << "this ffmpeg cannot encode " << clip.name;
    }
    for (const int32_t rate : {0, 16000}) {
      packets_sent = 0;
      auto straight = OpenAudio(path, rate, 0);
      ASSERT_TRUE(straight);
      const auto whole = Render(**straight, 0, kEnd);
      const int64_t packets = packets_sent;
      EXPECT_GT(packets, 80);

      packets_sent = 0;
      auto renderer = OpenAudio(path, rate, 0);
      ASSERT_TRUE(renderer);
      const auto width = static_cast<int64_t>((*renderer)->format().channels);
      const auto count = static_cast<int64_t>(whole.size()) / width;
      std::vector<float> ranges;
      for (int64_t from = 0; from < count; from += 1000) {
        const auto range =
            Render(**renderer, from, std::min<int64_t>(from + 1000, count));
        ranges.insert(ranges.end(), range.begin(), range.end());
      }
      ExpectSame(ranges, whole.data(), whole.size(), path);
      EXPECT_LE(packets_sent, packets) << path << " at " << rate << " Hz";
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker::audio
