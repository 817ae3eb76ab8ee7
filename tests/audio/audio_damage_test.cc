// SPDX-License-Identifier: Apache-2.0
// Damages audio files in generated ways. Whatever is damaged, the samples and
// the damage make up the timeline of the sound file, or the damage says that it
// is an estimate, the same in a pass and in ranges; without the damage, the
// samples are those that ffmpeg decodes from the damaged file.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The number of cases. BULKHEAD_DAMAGE_CASES=1000 gives the full test.
uint32_t Cases() {
  const char* text = std::getenv("BULKHEAD_DAMAGE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 240;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

enum class Kind { kZeroed, kFlipped, kCut };

// Damages bytes in the middle of the file, where no container of the test has
// its tables.
std::string Damage(std::string bytes, Kind kind, std::mt19937& random) {
  const size_t from = bytes.size() / 5 + random() % (bytes.size() / 2);
  const size_t count =
      std::min<size_t>(1 + random() % 6000, bytes.size() * 8 / 10 - from);
  if (kind == Kind::kCut) return bytes.erase(from, count);
  for (size_t i = 0; i < count; ++i) {
    if (kind == Kind::kZeroed) {
      bytes[from + i] = 0;
    } else if (random() % 400 == 0) {
      bytes[from + i] ^= static_cast<char>(1 << random() % 8);
    }
  }
  return bytes;
}

struct Sound {
  const char* name;
  std::vector<std::string> encoding;
  // kTable: the container has a table of all packets, which this test never
  // damages, or packets that need none. The timeline stays that of the sound
  // file, whatever is damaged.
  // kTimed: the packets have timestamps or numbers, or the header counts them.
  // kBytes: only the number of bytes tells how many samples are lost. What was
  // cut out leaves no trace.
  enum Timeline { kTable, kTimed, kBytes } timeline = kTimed;
};

const std::vector<Sound>& Sounds() {
  static const std::vector<Sound> kSounds = {
      {"aac.m4a", {"-c:a", "aac"}, Sound::kTable},
      {"alac.m4a", {"-c:a", "alac"}, Sound::kTable},
      {"flac.mp4", {"-c:a", "flac", "-strict", "-2"}, Sound::kTable},
      {"opus.mp4", {"-ar", "48000", "-c:a", "libopus"}, Sound::kTable},
      {"pcm.mov", {"-c:a", "pcm_s16le"}, Sound::kTable},
      {"pcm.wav", {"-c:a", "pcm_s16le"}, Sound::kTable},
      {"ac3.mp4", {"-ar", "48000", "-c:a", "ac3"}, Sound::kTable},
      {"mp3.mp4", {"-c:a", "libmp3lame"}, Sound::kTable},
      {"raw.mp3", {"-c:a", "libmp3lame"}},
      {"vbr.mp3", {"-c:a", "libmp3lame", "-q:a", "2"}},
      {"bare.mp3", {"-c:a", "libmp3lame", "-write_xing", "0"}, Sound::kBytes},
      {"raw.aac", {"-c:a", "aac"}, Sound::kBytes},
      {"raw.ac3", {"-ar", "48000", "-c:a", "ac3"}, Sound::kBytes},
      {"raw.flac", {"-c:a", "flac"}},
      {"opus.ogg", {"-ar", "48000", "-c:a", "libopus", "-page_duration", "1"}},
      {"vorbis.ogg", {"-c:a", "libvorbis", "-page_duration", "1"}},
      {"opus.webm", {"-ar", "48000", "-c:a", "libopus"}},
      {"vorbis.mka", {"-c:a", "libvorbis", "-cluster_time_limit", "300"}},
      {"mp3.mka", {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}},
      {"aac.ts", {"-c:a", "aac"}},
      {"mp2.ts", {"-c:a", "mp2"}},
  };
  return kSounds;
}

uint64_t Sum(const std::vector<DamagedSamples>& damage) {
  uint64_t samples = 0;
  for (const DamagedSamples& run : damage) samples += run.samples;
  return samples;
}

// Returns the samples without those of `damage`, interleaved. Fails the test if
// one of the damaged samples is not silent.
std::vector<float> WithoutDamage(const AudioSamples& samples,
                                 const std::vector<DamagedSamples>& damage) {
  std::vector<float> rest;
  size_t next = 0;
  const auto append = [&](size_t from, size_t to) {
    const auto part = PartOf(samples, from, to);
    rest.insert(rest.end(), part.begin(), part.end());
  };
  for (const DamagedSamples& run : damage) {
    append(next, run.first_sample);
    next = run.first_sample + run.samples;
    EXPECT_LE(next, samples.count());
    const auto lost = PartOf(samples, run.first_sample,
                             std::min<size_t>(next, samples.count()));
    EXPECT_TRUE(std::all_of(lost.begin(), lost.end(),
                            [](float value) { return value == 0; }));
  }
  append(std::min<size_t>(next, samples.count()), samples.count());
  return rest;
}

// Returns true if `part` is `whole` without some runs that make up no more than
// a twentieth of it.
bool IsMostOf(const std::vector<float>& part, const std::vector<float>& whole) {
  if (part.size() > whole.size() ||
      whole.size() - part.size() > whole.size() / 20) {
    return false;
  }
  size_t at = 0;
  for (size_t i = 0; i < part.size(); ++i, ++at) {
    while (at < whole.size() && part[i] != whole[at]) ++at;
    if (at == whole.size()) return false;
  }
  return true;
}

class AudioDamage : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  Result<AudioDecoder> Open(const std::string& path, OnCorrupt on_corrupt,
                            std::optional<int> rate = std::nullopt) {
    return host_->OpenAudio(
        path,
        {.device = device_, .sample_rate = rate, .on_corrupt = on_corrupt});
  }

  Result<AudioSamples> Range(AudioDecoder& audio, size_t from, size_t to) {
    const double begin = audio.metadata().begin_seconds;
    const double rate = audio.metadata().sample_rate;
    return audio.SamplesPlayedInRange(begin + static_cast<double>(from) / rate,
                                      begin + static_cast<double>(to) / rate);
  }

  void CheckRanges(const std::string& path, const AudioSamples& whole,
                   const std::vector<DamagedSamples>& damage,
                   std::mt19937& random);
  void Check(const std::string& path, std::mt19937& random);

  std::unique_ptr<Host> host_;
  std::string device_ = "cpu";
  uint64_t samples_ = 0;  // of the last case
  bool estimated_ = false;
  uint64_t cases_with_damage_ = 0;
};

// Any range equals the same part of the whole; it is refused by kError if it
// has damage.
void AudioDamage::CheckRanges(const std::string& path,
                              const AudioSamples& whole,
                              const std::vector<DamagedSamples>& damage,
                              std::mt19937& random) {
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const int killed = static_cast<int>(random() % 16);
  for (int i = 0; i < 5; ++i) {
    size_t from = random() % whole.count();
    if (i == 3 && !damage.empty()) {
      from = damage.front().first_sample + damage.front().samples;
      if (from >= whole.count()) break;
    }
    const size_t to =
        std::min<size_t>(from + 1 + random() % 20'000, whole.count());
    if (i == killed) {
      ASSERT_EQ(::kill(skipping.worker_pid(), SIGKILL), 0);
      ASSERT_EQ(::kill(strict.worker_pid(), SIGKILL), 0);
    }
    const auto part = Range(skipping, from, to);
    ASSERT_TRUE(part) << part.error();
    EXPECT_TRUE(Same(Interleaved(*part), PartOf(whole, from, to)))
        << from << " to " << to;
    const bool damaged = std::any_of(
        damage.begin(), damage.end(), [&](const DamagedSamples& run) {
          return run.first_sample < to && run.first_sample + run.samples > from;
        });
    const auto sound = Range(strict, from, to);
    ASSERT_EQ(bool{sound}, !damaged) << from << " to " << to;
    if (sound) {
      EXPECT_TRUE(Same(sound->data, part->data)) << from << " to " << to;
    } else {
      EXPECT_EQ(sound.error().code(), Code::kBadInput) << sound.error();
      EXPECT_NE(sound.error().message().find("are damaged"), std::string::npos);
    }
  }
}

void AudioDamage::Check(const std::string& path, std::mt19937& random) {
  std::vector<float> reference = SamplesByFfmpeg(path);
  auto audio = Open(path, OnCorrupt::kSkip);
  samples_ = 0;
  estimated_ = false;
  if (!audio) {
    EXPECT_TRUE(reference.empty()) << audio.error();
    return;
  }
  const auto whole = audio->AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  samples_ = whole->count();
  const std::vector<DamagedSamples> damage = audio->damage();
  if (!damage.empty()) ++cases_with_damage_;
  estimated_ = std::any_of(damage.begin(), damage.end(),
                           [](const auto& run) { return run.estimated; });
  EXPECT_LE(whole->count(), Sum(damage) + reference.size() / whole->channels);
  const std::vector<float> rest = WithoutDamage(*whole, damage);
  if (audio->metadata().codec == "opus") {
    // Damage can make a packet of Opus tell that it is longer. What has no
    // place is left out.
    EXPECT_TRUE(IsMostOf(rest, reference));
  } else {
    // ffmpeg leaves the encoder's padding at the end once packets were lost.
    const size_t padding = reference.size() - rest.size();
    if (audio->metadata().container == "mp3" && !damage.empty() &&
        reference.size() > rest.size() && padding <= 2 * 1152 * 2) {
      reference.resize(rest.size());
    }
    EXPECT_TRUE(Same(rest, reference))
        << rest.size() << " values, not " << reference.size();
  }
  for (const DamagedSamples& run : damage) {
    EXPECT_NEAR(run.end_seconds - run.begin_seconds,
                static_cast<double>(run.samples) / whole->sample_rate, 1e-6);
  }
  const auto strict = Open(path, OnCorrupt::kError)->AllSamples();
  EXPECT_EQ(bool{strict}, damage.empty());
  CheckRanges(path, *whole, damage, random);
}

TEST_F(AudioDamage, KeepsTheTimelineWhateverIsDamaged) {
  std::vector<std::string> sources;
  std::vector<uint64_t> timelines;
  for (const Sound& sound : Sounds()) {
    sources.push_back(MakeAudio(sound.name, sound.encoding, 2));
    if (sources.back().empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    timelines.push_back(SamplesByFfmpeg(sources.back()).size() / 2);
  }
  const char* first = std::getenv("BULKHEAD_DAMAGE_SEED");
  const uint32_t begin =
      first != nullptr ? std::strtoul(first, nullptr, 10) : 1;
  std::vector<uint64_t> cases(sources.size());
  std::vector<uint64_t> exact(sources.size());
  uint64_t estimates = 0;
  for (uint32_t seed = begin; seed < begin + Cases(); ++seed) {
    std::mt19937 random(seed);
    const size_t source = seed % sources.size();
    const Sound& sound = Sounds()[source];
    const bool has_table = sound.timeline == Sound::kTable;
    const auto kind = static_cast<Kind>(random() % (has_table ? 2 : 3));
    device_ = seed % 4 == 0 ? "openreg:0" : "cpu";
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + sound.name);
    const std::string path =
        TemporaryDirectory() + "/damaged_" + std::string(sound.name);
    Write(path, Damage(Read(sources[source]), kind, random));
    Check(path, random);
    const bool told = std::getenv("BULKHEAD_DAMAGE_TOLD") != nullptr;
    if (HasFailure() && !told) return;
    const bool is_exact = samples_ == timelines[source];
    const bool may_differ =
        sound.timeline == Sound::kBytes && kind == Kind::kCut;
    EXPECT_TRUE(is_exact || (estimated_ && !has_table) || may_differ)
        << samples_ << ", not " << timelines[source];
    ++cases[source];
    exact[source] += is_exact;
    estimates += estimated_;
    if (told) {
      std::printf("%u %s kind %d: %llu of %llu samples%s\n", seed, sound.name,
                  static_cast<int>(kind),
                  static_cast<unsigned long long>(samples_),
                  static_cast<unsigned long long>(timelines[source]),
                  estimated_ ? ", an estimate" : "");
    }
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    std::printf(
        "%-12s %3llu cases, %3llu with the timeline of the sound file\n",
        Sounds()[i].name, static_cast<unsigned long long>(cases[i]),
        static_cast<unsigned long long>(exact[i]));
  }
  std::printf("%u cases, %llu with damage, %llu of them estimates\n", Cases(),
              static_cast<unsigned long long>(cases_with_damage_),
              static_cast<unsigned long long>(estimates));
  EXPECT_GT(cases_with_damage_, Cases() / 3);
}

// The issue that this was made for: 104,448 samples became 99,119.
TEST_F(AudioDamage, ZeroedBytesOfRawFramesCostNoTime) {
  struct Raw {
    const char* name;
    std::vector<std::string> encoding;
    bool estimated;
  };
  const Raw raws[] = {
      {"info44.mp3", {"-c:a", "libmp3lame"}, false},
      {"info48.mp3", {"-ar", "48000", "-c:a", "libmp3lame"}, false},
      {"info_vbr.mp3", {"-c:a", "libmp3lame", "-q:a", "2"}, false},
      {"bare44.mp3", {"-c:a", "libmp3lame", "-write_xing", "0"}, false},
      {"bare.ac3", {"-ar", "48000", "-c:a", "ac3"}, false},
      {"bare.mp2", {"-c:a", "mp2"}, false},
      {"numbered.flac", {"-c:a", "flac"}, false},
      {"bare_vbr.mp3",
       {"-c:a", "libmp3lame", "-q:a", "2", "-write_xing", "0"},
       true},
      {"bare.aac", {"-c:a", "aac"}, true},
  };
  for (const Raw& raw : raws) {
    SCOPED_TRACE(raw.name);
    const std::string path = MakeAudio(raw.name, raw.encoding, 2.37);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t expected = SamplesByFfmpeg(path).size() / 2;
    std::string bytes = Read(path);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
                '\0');
    Write(path, bytes);
    const auto refused = Open(path, OnCorrupt::kError)->AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const size_t count = audio.AllSamples().value().count();
    const auto damage = audio.damage();
    ASSERT_FALSE(damage.empty());
    EXPECT_EQ(damage.front().estimated, raw.estimated);
    if (raw.estimated) {
      EXPECT_NEAR(static_cast<double>(count), static_cast<double>(expected),
                  4096);
    } else {
      EXPECT_EQ(count, expected);
    }
  }
}

// Whole packets vanish without an error of the decoder.
TEST_F(AudioDamage, BytesCutOutOfTimedPacketsCostNoTime) {
  for (const Sound& sound : std::vector<Sound>{
           {"cut_aac.ts", {"-c:a", "aac"}},
           {"cut_mp2.ts", {"-c:a", "mp2"}},
           {"cut_ac3.m2ts", {"-ar", "48000", "-c:a", "ac3"}},
           {"cut_mp3.mka",
            {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}},
           {"cut_flac.mka", {"-c:a", "flac", "-cluster_time_limit", "300"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t expected = SamplesByFfmpeg(path).size() / 2;
    const std::string bytes = Read(path);
    for (size_t i = 0; i < 6; ++i) {
      SCOPED_TRACE(std::string(sound.name) + ", cut " + std::to_string(i));
      std::string cut = bytes;
      cut.erase(bytes.size() / 4 + i * 1237, 1500 + i * 700);
      Write(path, cut);
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      EXPECT_EQ(audio.AllSamples().value().count(), expected);
      EXPECT_FALSE(audio.damage().empty());
      EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
    }
  }
}

// Timestamps of sound files may jump, begin late, and be rounded.
// The packets of the last page of Ogg have no times of their own, so no gap
// tells of a page that is lost before it.
TEST_F(AudioDamage, PagesOfOggThatAreLostAtTheEndAreDamage) {
  const std::string path = MakeAudio("pages.opus", {"-c:a", "libopus"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  const std::string bytes = Read(path);
  const size_t last = bytes.rfind("OggS");
  for (const size_t page : {last, bytes.rfind("OggS", last - 1)}) {
    SCOPED_TRACE("page at " + std::to_string(page));
    std::string spoiled = bytes;
    spoiled.replace(page + 200, 100, 100, '\0');
    Write(path, spoiled);
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    EXPECT_EQ(audio.AllSamples().value().count(), expected);
    ASSERT_EQ(audio.damage().size(), 1u);
    EXPECT_TRUE(audio.damage()[0].estimated);
    EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
  }
}

TEST_F(AudioDamage, GapsOfSoundFilesAreNoDamage) {
  const std::vector<std::string> jump = {"-bsf:a",
                                         "setts=ts=TS+gte(N\\,40)*0.7/TB"};
  struct Sound {
    std::string name;
    std::vector<std::string> encoding;
    bool jumps;
  };
  std::vector<Sound> sounds;
  for (const auto& [name, codec] :
       std::vector<std::pair<std::string, std::string>>{
           {"aac.ts", "aac"},
           {"mp2.ts", "mp2"},
           {"ac3.m2ts", "ac3"},
           {"mp3.mka", "libmp3lame"},
           {"opus.webm", "libopus"},
           {"vorbis.mka", "libvorbis"},
           {"aac.mp4", "aac"}}) {
    const std::vector<std::string> encoding = {"-ar", "48000", "-c:a", codec};
    sounds.push_back({"legal_" + name, encoding, false});
    sounds.push_back({"jump_" + name, encoding, true});
    sounds.push_back({"late_" + name, encoding, false});
    sounds.back().encoding.insert(sounds.back().encoding.end(),
                                  {"-output_ts_offset", "1.3"});
  }
  for (Sound& sound : sounds) {
    SCOPED_TRACE(sound.name);
    if (sound.jumps) {
      sound.encoding.insert(sound.encoding.end(), jump.begin(), jump.end());
    }
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    ASSERT_FALSE(path.empty());
    AudioDecoder audio = Open(path, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(audio.damage().empty());
    EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
  }
}

class AudioDamageOn : public AudioDamage,
                      public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    AudioDamage::SetUp();
    device_ = GetParam();
  }
};

TEST_P(AudioDamageOn, ALostPacketIsAnErrorOrSilence) {
  const std::string path = MakeAudio("lost.m4a", {"-c:a", "aac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  std::string bytes = Read(path);
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
              '\0');
  Write(path, bytes);
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
  const std::string message = refused.error().message();
  for (const char* told :
       {"lost.m4a: samples ", " s, byte ", " says: \"", "on_corrupt"}) {
    EXPECT_NE(message.find(told), std::string::npos) << message;
  }
  const auto damage = strict.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample % 1024, 0u);
  EXPECT_EQ(damage[0].samples % 1024, 0u);
  EXPECT_NE(damage[0].backend_says, "");
  EXPECT_GE(*damage[0].first_byte,
            static_cast<int64_t>(bytes.size() / 2) - 1000);
  EXPECT_LE(*damage[0].last_byte,
            static_cast<int64_t>(bytes.size() / 2) + 5000);

  // The samples before and behind the damage can be had.
  const size_t end = damage[0].first_sample + damage[0].samples;
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = skipping.AllSamples().value();
  EXPECT_EQ(whole.count(), expected);
  const AudioSamples behind = Range(strict, end, end + 5000).value();
  EXPECT_TRUE(Same(Interleaved(behind), PartOf(whole, end, end + 5000)));
  ASSERT_EQ(::kill(strict.worker_pid(), SIGKILL), 0);
  EXPECT_FALSE(Range(strict, end - 1, end + 1));
  EXPECT_TRUE(Range(strict, end, end + 1));
  ASSERT_EQ(strict.damage().size(), 1u);
  EXPECT_EQ(strict.damage()[0].samples, damage[0].samples);
}

TEST_P(AudioDamageOn, ResamplingKeepsTheTimeline) {
  const std::string path = MakeAudio("resampled.m4a", {"-c:a", "aac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected =
      Open(path, OnCorrupt::kError, 16000)->AllSamples()->count();
  std::string bytes = Read(path);
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
              '\0');
  Write(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip, 16000).value();
  EXPECT_EQ(audio.AllSamples()->count(), expected);
  const auto at_16000 = audio.damage();
  AudioDecoder own = Open(path, OnCorrupt::kSkip).value();
  ASSERT_TRUE(own.AllSamples());
  ASSERT_EQ(at_16000.size(), own.damage().size());
  for (size_t i = 0; i < at_16000.size(); ++i) {
    EXPECT_NEAR(at_16000[i].begin_seconds, own.damage()[i].begin_seconds, 1e-4);
    EXPECT_NEAR(at_16000[i].end_seconds, own.damage()[i].end_seconds, 1e-4);
  }
}

TEST_P(AudioDamageOn, AFileThatShrinksHasDamageAtItsEnd) {
  const std::string path = MakeAudio("shrinks.wav", {"-c:a", "pcm_s16le"}, 30);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  constexpr uint64_t kSamples = 30 * 44100;
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->count(), kSamples);
  const auto damage = audio.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample + damage[0].samples, kSamples);
  EXPECT_NEAR(static_cast<double>(damage[0].samples), kSamples / 2, 1000);
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
}

TEST_P(AudioDamageOn, ThereIsNoNearestSample) {
  const std::string path = MakeAudio("nearest.wav", {"-c:a", "pcm_s16le"}, 1);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const auto audio = Open(path, OnCorrupt::kNearest);
  ASSERT_FALSE(audio);
  EXPECT_EQ(audio.error().code(), Code::kInvalidArgument) << audio.error();
}

INSTANTIATE_TEST_SUITE_P(Backends, AudioDamageOn,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
