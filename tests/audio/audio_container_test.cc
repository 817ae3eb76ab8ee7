// SPDX-License-Identifier: Apache-2.0
// Damages Ogg, Matroska and transport streams with audio: whatever is lost is
// damage, and what is behind it has its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Whole packets vanish without an error of the decoder.
TEST_F(AudioDamage, BytesCutOutOfTimedPacketsCostNoTime) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"cut_aac.ts", {"-c:a", "aac"}},
           {"cut_mp2.ts", {"-c:a", "mp2"}},
           {"cut_ac3.m2ts", {"-ar", "48000", "-c:a", "ac3"}},
           {"cut_mp3.mka",
            {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}},
           {"cut_flac.mka", {"-c:a", "flac", "-cluster_time_limit", "300"}},
           {"cut_wma.wma", {"-c:a", "wmav2"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t expected = SamplesByFfmpeg(path).size() / 2;
    const std::string bytes = ReadBytes(path);
    for (size_t i = 0; i < 6; ++i) {
      SCOPED_TRACE(std::string(sound.name) + ", cut " + std::to_string(i));
      std::string cut = bytes;
      cut.erase(bytes.size() / 4 + i * 1237, 1500 + i * 700);
      WriteBytes(path, cut);
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      EXPECT_EQ(audio.AllSamples().value().count(), expected);
      EXPECT_FALSE(audio.damage().empty());
      EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
    }
  }
}

// Every page of Ogg in turn, the first page of sound and the last one too.
// Other pages tell exactly what is lost; the last page has fewer samples than
// its packets, so that a page before it, or its own start, are estimates.
TEST_F(AudioDamage, APageOfOggThatIsLostIsDamageInItsPlace) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"lost_page.ogg", {"-c:a", "libvorbis"}},
           {"lost_page.opus", {"-ar", "48000", "-c:a", "libopus"}},
           {"lost_page.oga", {"-c:a", "flac"}},
           {"lost_packet.ogg", {"-c:a", "libvorbis", "-page_duration", "1"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 5);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string bytes = ReadBytes(path);
    const std::vector<size_t> pages = OggPagesOf(bytes);
    const size_t step = pages.size() > 20 ? pages.size() / 9 : 1;
    ASSERT_GT(pages.size(), 5u);
    for (size_t i = 0; i < pages.size(); i += step) {
      if (OggGranuleOf(bytes, pages[i]) == 0) continue;  // headers
      SCOPED_TRACE(std::string(sound.name) + ", page " + std::to_string(i));
      const size_t last = std::min(i + step, pages.size()) - 1;
      std::string spoiled = bytes;
      spoiled.replace(pages[last] + 60, 20, 20, '\0');
      WriteBytes(path, spoiled);
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      const AudioSamples rest = audio.AllSamples().value();
      const auto damage = audio.damage();
      ASSERT_EQ(damage.size(), 1u);
      EXPECT_EQ(rest.count(), whole.count());
      EXPECT_EQ(damage[0].estimated, last + 2 >= pages.size());
      if (last + 2 < pages.size()) {
        EXPECT_TRUE(IsInPlace(rest, whole, damage));
      }
      EXPECT_NEAR(
          static_cast<double>(damage[0].first_sample + damage[0].samples),
          static_cast<double>(OggGranuleOf(bytes, pages[last])), 3000);
      EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
    }
  }
}

// The last page has fewer samples than its packets by a number that only the
// page before it tells. The first packet behind the damage yields no samples.
TEST_F(AudioDamage, WhereOnlyTheLastPageOfOggIsLeftItsStartIsAnEstimate) {
  const std::string path = MakeAudio("last.ogg", {"-c:a", "libvorbis"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  std::string bytes = ReadBytes(path);
  const std::vector<size_t> pages = OggPagesOf(bytes);
  for (size_t i = 0; i + 1 < pages.size(); ++i) {
    if (OggGranuleOf(bytes, pages[i]) > 0) bytes[pages[i] + 200] ^= 1;
  }
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  EXPECT_EQ(audio.AllSamples().value().count(), expected);
  ASSERT_EQ(audio.damage().size(), 1u);
  EXPECT_TRUE(audio.damage()[0].estimated);
}

TEST_F(AudioDamage, BytesBehindTheLastPageOfOggAreDamage) {
  const std::string path = MakeAudio("behind.ogg", {"-c:a", "libvorbis"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  const std::string bytes = ReadBytes(path);
  const std::vector<size_t> pages = OggPagesOf(bytes);
  // The file ends with the header of the last page, or without it.
  for (const size_t from : {pages.back() + 1000, pages.back() - 1000}) {
    SCOPED_TRACE(from);
    std::string cut = bytes;
    cut.erase(from, 2000);
    WriteBytes(path, cut);
    EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const size_t count = audio.AllSamples().value().count();
    ASSERT_EQ(audio.damage().size(), 1u);
    EXPECT_TRUE(audio.damage()[0].estimated);
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(expected),
                from > pages.back() ? 0 : 20000);
  }
}

// In a file of one cluster, whatever is behind a block that cannot be read is
// lost.
TEST_F(AudioDamage, WhatIsLostOfMatroskaIsDamageAlsoAtBothEnds) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"ends_vorbis.mkv", {"-c:a", "libvorbis"}},
           {"ends_opus.webm",
            {"-ar", "48000", "-c:a", "libopus", "-cluster_time_limit", "300"}},
           {"ends_mp3.mka",
            {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const auto expected = static_cast<double>(
        Open(path, OnCorrupt::kError)->AllSamples()->count());
    const std::string bytes = ReadBytes(path);
    const size_t cluster = bytes.find("\x1f\x43\xb6\x75");
    for (const auto& [from, count] :
         std::vector<std::pair<size_t, size_t>>{{bytes.size() * 3 / 4, 2000},
                                                {cluster - 2, 1500},
                                                {bytes.size() - 2500, 1500}}) {
      for (const bool cuts : {false, true}) {
        SCOPED_TRACE(std::string(sound.name) + (cuts ? ", cut " : ", zeroed ") +
                     std::to_string(from));
        std::string spoiled = bytes;
        if (cuts) {
          spoiled.erase(from, count);
        } else {
          spoiled.replace(from, count, count, '\0');
        }
        WriteBytes(path, spoiled);
        auto audio = Open(path, OnCorrupt::kSkip);
        if (!audio) continue;
        const auto samples = audio->AllSamples();
        ASSERT_TRUE(samples) << samples.error();
        EXPECT_FALSE(audio->damage().empty());
        EXPECT_NEAR(static_cast<double>(samples->count()), expected, 1500);
        EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
      }
    }
  }
}

// The boxes of other fragments tell what is lost, between two packets and
// behind the last one.
TEST_F(AudioDamage, FragmentsThatAreLostCostNoTime) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"fragments.m4a", {"-c:a", "aac", "-frag_duration", "400000"}},
           {"fragments.mp4",
            {"-f", "lavfi", "-i", "testsrc=r=25", "-t", "4", "-c:a", "aac",
             "-c:v", "libx264", "-g", "10"}}}) {
    std::vector<std::string> encoding = sound.encoding;
    encoding.insert(
        encoding.end(),
        {"-movflags", "frag_keyframe+empty_moov+default_base_moof"});
    const std::string path = MakeAudio(sound.name, encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string bytes = ReadBytes(path);
    std::vector<size_t> places;  // of fragments
    for (size_t at = 0; (at = bytes.find("moof", at)) != bytes.npos; ++at) {
      places.push_back(at - 4);
    }
    ASSERT_GE(places.size(), 8u);
    const size_t third = places[3];
    const std::string spoiled[] = {
        // Without a fragment, with boxes that do not lead to the next, and with
        // the last but one hidden.
        bytes.substr(0, third) + bytes.substr(places[4]),
        std::string(bytes).insert(third - 4, 100, '\x99'),
        std::string(bytes).replace(third, 8, 8, '\0'),
        std::string(bytes).replace(places[places.size() - 2] + 4, 4, "free")};
    for (const std::string& file : spoiled) {
      SCOPED_TRACE(sound.name + std::to_string(&file - spoiled));
      WriteBytes(path, file);
      EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      const AudioSamples rest = audio.AllSamples().value();
      ASSERT_EQ(audio.damage().size(), 1u);
      EXPECT_NEAR(static_cast<double>(rest.count()),
                  static_cast<double>(whole.count()), 1024);
      EXPECT_TRUE(IsInPlace(rest, whole, audio.damage()));
    }
  }
}

// The index is found without the header of the list of chunks. Without an
// index, the lost bytes, or else the length in the header, tell how much is
// lost.
TEST_F(AudioDamage, WhatIsLostWithTheListOfChunksOfAviIsDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"lost_list_mp3.avi", {"-c:a", "libmp3lame"}},
           {"lost_list_pcm.avi", {"-c:a", "pcm_s16le"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string bytes = ReadBytes(path);
    const size_t list = bytes.find("movi") - 8;
    const size_t first = bytes.find("00wb", list);
    const size_t second = bytes.find("00wb", first + 4);
    const size_t third = bytes.find("00wb", second + 4);
    for (const size_t end : {first + 20, (first + second) / 2, second + 20,
                             third + 20, third + 9000}) {
      for (const bool has_index : {true, false}) {
        SCOPED_TRACE(std::string(sound.name) + ", zeroed to " +
                     std::to_string(end) + (has_index ? "" : ", no index"));
        std::string spoiled = bytes;
        const size_t begin = end % 3 == 0 ? list : list - 500;
        spoiled.replace(begin, end - begin, end - begin, '\0');
        if (!has_index) spoiled.replace(spoiled.rfind("idx1"), 4, "xdi1");
        WriteBytes(path, spoiled);
        EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
        AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
        const AudioSamples rest = audio.AllSamples().value();
        const auto damage = audio.damage();
        ASSERT_FALSE(damage.empty());
        EXPECT_TRUE(damage[0].estimated);
        EXPECT_NEAR(static_cast<double>(rest.count()),
                    static_cast<double>(whole.count()), has_index ? 0 : 1152);
        EXPECT_TRUE(!has_index || IsInPlace(rest, whole, damage));
      }
    }
  }
}

// FLV has timestamps, and AVI an index of its packets.
TEST_F(AudioDamage, WhatIsLostOfFlvAndAviCostsNoTime) {
  for (const EncodedSound& sound :
       std::vector<EncodedSound>{{"lost_mp3.flv", {"-c:a", "libmp3lame"}},
                                 {"lost_aac.flv", {"-c:a", "aac"}},
                                 {"lost_both.flv",
                                  {"-f", "lavfi", "-i", "testsrc", "-t", "3",
                                   "-c:a", "aac", "-c:v", "flv"}},
                                 {"lost_pcm.avi", {"-c:a", "pcm_s16le"}},
                                 {"lost_both.avi",
                                  {"-f", "lavfi", "-i", "testsrc", "-t", "3",
                                   "-c:a", "libmp3lame", "-c:v", "mpeg4"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string bytes = ReadBytes(path);
    for (size_t part = 15; part <= 85; part += 7) {
      for (const bool cuts : {false, true}) {
        SCOPED_TRACE(std::string(sound.name) +
                     (cuts ? ", cut at " : ", zeroed ") + std::to_string(part) +
                     " %");
        const size_t from = bytes.size() * part / 100;
        const size_t count = 3000 + part * 50;
        std::string spoiled = bytes;
        if (cuts) {
          spoiled.erase(from, count);
        } else {
          spoiled.replace(from, count, count, '\0');
        }
        WriteBytes(path, spoiled);
        AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
        const AudioSamples rest = audio.AllSamples().value();
        const auto damage = audio.damage();
        const bool same = rest.data == whole.data;
        EXPECT_TRUE(same || !damage.empty());
        if (std::none_of(damage.begin(), damage.end(),
                         [](const auto& run) { return run.estimated; })) {
          EXPECT_EQ(rest.count(), whole.count());
        }
        EXPECT_NEAR(static_cast<double>(rest.count()),
                    static_cast<double>(whole.count()), 2304);
        EXPECT_TRUE(IsInPlace(rest, whole, damage));
      }
    }
  }
}

// A torn frame of a stream becomes parts of frames, whose timestamps are made
// up by libavformat.
// The sound of a file need not begin with the file. That it begins later is no
// loss, also where bytes are missing elsewhere.
TEST_F(AudioDamage, ALateBeginningIsNotLostWithBytesElsewhere) {
  for (const char* name : {"late.flv", "late.mkv"}) {
    SCOPED_TRACE(name);
    const std::string path = TemporaryDirectory() + "/" + name;
    ASSERT_EQ(
        RunFfmpeg({"-f", "lavfi", "-i",
                   "testsrc2=size=160x120:rate=25:duration=3", "-itsoffset",
                   "0.2", "-f", "lavfi", "-i", "sine=duration=3", "-c:v", "flv",
                   "-c:a", "libmp3lame", path})
            .exit_code,
        0);
    const size_t count = Open(path, OnCorrupt::kError)->AllSamples()->count();
    const std::string bytes = ReadBytes(path);
    for (const size_t tenth : {4, 6}) {
      std::string shorter = bytes;
      shorter.erase(bytes.size() / 10 * tenth, 700);
      WriteBytes(path, shorter);
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_NEAR(static_cast<double>(whole->count()),
                  static_cast<double>(count), 2'304);
      for (const DamagedSamples& damage : audio.damage()) {
        EXPECT_GT(damage.first_sample, 10'000u);
      }
    }
  }
}

TEST_F(AudioDamage, PacketsOfATransportStreamThatAreLostCostNoTime) {
  for (const EncodedSound& sound :
       std::vector<EncodedSound>{{"torn_mp2.ts", {"-c:a", "mp2"}},
                                 {"torn_mp3.ts", {"-c:a", "libmp3lame"}},
                                 {"torn_aac.ts", {"-c:a", "aac"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string bytes = ReadBytes(path);
    for (size_t part = 20; part <= 80; part += 5) {
      for (const bool cuts : {false, true}) {
        SCOPED_TRACE(std::string(sound.name) +
                     (cuts ? ", cut at " : ", zeroed ") + std::to_string(part) +
                     " %");
        const size_t from = bytes.size() * part / 100 / 188 * 188;
        std::string spoiled = bytes;
        if (cuts) {
          spoiled.erase(from, 752);
        } else {
          spoiled.replace(from, 752, 752, '\0');
        }
        WriteBytes(path, spoiled);
        AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
        const AudioSamples rest = audio.AllSamples().value();
        EXPECT_EQ(rest.count(), whole.count());
        EXPECT_FALSE(audio.damage().empty());
        EXPECT_TRUE(IsInPlace(rest, whole, audio.damage()));
      }
    }
  }
}

// Sixteen packets leave the stream's counter as it was; the tables that went
// with them show it, and the timestamps how much it was.
TEST_F(AudioDamage, AWholePacketOfSoundIsMissedInATransportStream) {
  const std::string path =
      MakeAudio("whole.ts", {"-ar", "48000", "-c:a", "mp2", "-b:a", "192k"}, 2);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  constexpr size_t kPacket = 188;
  const AudioSamples whole =
      Open(path, OnCorrupt::kError)->AllSamples().value();
  const std::string bytes = ReadBytes(path);
  const auto is_sound = [&](size_t packet) {
    return (bytes[packet * kPacket + 1] & 0x1f) == 1 &&
           bytes[packet * kPacket + 2] == 0;
  };
  size_t cases = 0;
  size_t from = 0;
  size_t sound = 0;  // packets of the stream since then
  for (size_t to = 0; to < bytes.size() / kPacket && cases < 5; ++to) {
    const bool begins = is_sound(to) && (bytes[to * kPacket + 1] & 0x40) != 0;
    if (!begins) {
      sound += is_sound(to);
      continue;
    }
    const bool hides = sound == 16 && to - from > 16 && from > 40;
    if (!hides) {
      from = to;
      sound = 1;
      continue;
    }
    ++cases;
    SCOPED_TRACE("packets " + std::to_string(from) + " to " +
                 std::to_string(to));
    std::string cut = bytes;
    cut.erase(from * kPacket, (to - from) * kPacket);
    WriteBytes(path, cut);
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const AudioSamples rest = audio.AllSamples().value();
    EXPECT_EQ(rest.count(), whole.count());
    EXPECT_FALSE(audio.damage().empty());
    EXPECT_TRUE(IsInPlace(rest, whole, audio.damage()));
    from = to;
    sound = 1;
  }
  EXPECT_GT(cases, 0u);
}

// Anywhere in the file, its first and its last bytes too: whoever gets no error
// has every sample.
TEST_F(AudioDamage, NothingIsLostInSilence) {
  std::vector<AudioSamples> sounds;
  std::vector<std::string> files;
  const std::vector<EncodedSound> kinds = {
      {"silent.ogg", {"-c:a", "libvorbis"}},
      {"silent.opus", {"-ar", "48000", "-c:a", "libopus"}},
      {"silent.oga", {"-c:a", "flac"}},
      {"silent_vorbis.mka", {"-c:a", "libvorbis"}},
      {"silent_aac.mka", {"-c:a", "aac", "-cluster_time_limit", "300"}},
      {"silent_opus.webm", {"-ar", "48000", "-c:a", "libopus"}},
      {"silent_mp3.ts", {"-c:a", "libmp3lame"}},
      {"silent_aac.flv", {"-c:a", "aac"}},
      {"silent_mp3.flv", {"-c:a", "libmp3lame"}},
      {"silent_mp3.avi", {"-c:a", "libmp3lame"}},
      {"silent_wma.wma", {"-c:a", "wmav2"}},
  };
  for (const EncodedSound& sound : kinds) {
    files.push_back(MakeAudio(sound.name, sound.encoding, 3));
    if (files.back().empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    sounds.push_back(
        Open(files.back(), OnCorrupt::kError)->AllSamples().value());
  }
  const std::string path = TemporaryDirectory() + "/silent";
  const uint32_t cases = DamageCases() / 2;
  uint32_t compared = 0;
  for (uint32_t seed = 1; seed <= cases; ++seed) {
    std::mt19937 random(seed);
    const size_t kind = seed % kinds.size();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + kinds[kind].name);
    std::string bytes = ReadBytes(files[kind]);
    const size_t size = bytes.size();
    const size_t edge = size / 8;
    const size_t place = random() % 3;
    const size_t from = place == 0   ? random() % edge
                        : place == 1 ? size - 200 - random() % edge
                                     : random() % (size - 200);
    const size_t count = 20 + random() % 3000;
    const bool cuts = random() % 3 == 0;
    SCOPED_TRACE(std::to_string(count) + " bytes from " + std::to_string(from) +
                 (cuts ? " cut out" : " zeroed"));
    if (cuts) {
      // Up to the end would be a file that is cut off.
      bytes.erase(from, std::min(count, size - from - 100));
    } else {
      // Zeroes up to the end of a transport stream are padding.
      const bool is_ts = std::string_view(kinds[kind].name).ends_with(".ts");
      const size_t end = std::min(from + count, is_ts ? size - 200 : size);
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    }
    WriteBytes(path, bytes);
    auto audio = Open(path, OnCorrupt::kSkip);
    if (!audio) continue;
    const auto samples = audio->AllSamples();
    if (!samples) continue;
    const auto damage = audio->damage();
    if (std::any_of(damage.begin(), damage.end(),
                    [](const auto& run) { return run.estimated; })) {
      continue;
    }
    EXPECT_EQ(samples->count(), sounds[kind].count());
    EXPECT_TRUE(IsInPlace(*samples, sounds[kind], damage));
    ++compared;
  }
  std::printf("%u cases, %u compared\n", cases, compared);
  EXPECT_GT(compared, cases / 3);
}

// The decoder takes zeroes for a packet without sound, and gives the samples of
// the packet before at the end.
TEST_F(AudioDamage, ALastPacketOfWmaThatYieldsNothingIsDamage) {
  const std::string path = MakeAudio("last.wma", {"-c:a", "wmav2"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = Open(path, OnCorrupt::kError)->AllSamples()->count();
  std::string bytes = ReadBytes(path);
  bytes.replace(bytes.size() - 2900, 2800, 2800, '\0');
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  EXPECT_EQ(audio.AllSamples()->count(), expected);
  EXPECT_FALSE(audio.damage().empty());
  EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
}

TEST_F(AudioDamage, PagesOfOggThatAreLostAtTheEndAreDamage) {
  const std::string path = MakeAudio("pages.opus", {"-c:a", "libopus"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  const std::string bytes = ReadBytes(path);
  const size_t last = bytes.rfind("OggS");
  for (const size_t page : {last, bytes.rfind("OggS", last - 1)}) {
    SCOPED_TRACE("page at " + std::to_string(page));
    std::string spoiled = bytes;
    spoiled.replace(page + 200, 100, 100, '\0');
    WriteBytes(path, spoiled);
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    EXPECT_EQ(audio.AllSamples().value().count(), expected);
    ASSERT_EQ(audio.damage().size(), 1u);
    EXPECT_TRUE(audio.damage()[0].estimated);
    EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
  }
}

}  // namespace
}  // namespace bulkhead::tests
