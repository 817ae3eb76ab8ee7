// SPDX-License-Identifier: Apache-2.0
// Tests WAV files that are written by hand, so that the expected samples do not
// come from FFmpeg: what the README says, case by case.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint16_t kPcm = 1;
constexpr uint16_t kFloat = 3;
constexpr uint16_t kExtensible = 0xfffe;

std::string LittleEndian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string Chunk(const std::string& name, const std::string& content,
                  std::optional<uint32_t> claimed_bytes = std::nullopt) {
  return name +
         LittleEndian(
             claimed_bytes.value_or(static_cast<uint32_t>(content.size())), 4) +
         content + std::string(content.size() % 2, '\0');
}

struct Format {
  uint16_t tag = kPcm;
  uint16_t channels = 1;
  uint32_t sample_rate = 8000;
  uint16_t bits = 16;
  std::optional<uint16_t> align = std::nullopt;  // else as they say
  // For kExtensible: the actual format.
  uint16_t subformat = kPcm;
};

std::string FormatChunk(const Format& format) {
  const uint16_t align = format.align.value_or(
      static_cast<uint16_t>(format.channels * format.bits / 8));
  std::string content = LittleEndian(format.tag, 2) +
                        LittleEndian(format.channels, 2) +
                        LittleEndian(format.sample_rate, 4) +
                        LittleEndian(uint64_t{format.sample_rate} * align, 4) +
                        LittleEndian(align, 2) + LittleEndian(format.bits, 2);
  if (format.tag == kExtensible) {
    constexpr char kRestOfGuid[] =
        "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";
    content += LittleEndian(22, 2) + LittleEndian(format.bits, 2) +
               LittleEndian((uint64_t{1} << format.channels) - 1, 4) +
               LittleEndian(format.subformat, 2) + std::string(kRestOfGuid, 14);
  }
  return Chunk("fmt ", content);
}

std::string Riff(const std::string& content) {
  return Chunk("RIFF", "WAVE" + content);
}

std::string Wav(const Format& format, const std::string& data) {
  return Riff(FormatChunk(format) + Chunk("data", data));
}

// Returns data in which every bit varies.
std::string Data(size_t bytes) {
  std::string data;
  for (size_t i = 0; i < bytes; ++i) {
    data += static_cast<char>(i * 2654435761u >> 13);
  }
  return data;
}

// Returns sample `i` of the data: an integer scaled to [-1, 1], or a float
// unchanged.
float Expected(const Format& format, const std::string& data, size_t i) {
  const size_t bytes = format.bits / 8;
  const char* const at = data.data() + i * bytes;
  const bool is_float =
      (format.tag == kExtensible ? format.subformat : format.tag) == kFloat;
  if (is_float && format.bits == 64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<float>(value);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, at, bytes);
  if (is_float) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (format.bits == 8) return (static_cast<float>(bits) - 128) / 128;
  const auto value = static_cast<int32_t>(bits << (32 - format.bits));
  return static_cast<float>(value) / 2147483648.0f;
}

class WavFile : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  Result<AudioDecoder> TryOpen(const std::string& file) {
    return host_->OpenAudio(
        Source::FromMemory(std::as_bytes(std::span(file)), "file.wav").value(),
        {.device = GetParam()});
  }

  // Returns the code of opening the file, or of reading all its samples.
  Code CodeOf(const std::string& file) {
    auto audio = TryOpen(file);
    if (!audio) return audio.error().code();
    const auto all = audio->AllSamples();
    return all ? Code::kOk : all.error().code();
  }

  void ExpectSamples(const std::string& file, const Format& format,
                     const std::string& data) {
    const size_t count = data.size() / (format.bits / 8) / format.channels;
    auto audio = TryOpen(file);
    ASSERT_TRUE(audio) << audio.error();
    EXPECT_EQ(audio->metadata().sample_rate, format.sample_rate);
    const auto all = audio->AllSamples();
    ASSERT_TRUE(all) << all.error();
    ASSERT_EQ(all->channels, format.channels);
    ASSERT_EQ(all->count(), count);
    for (size_t i = 0; i < count * format.channels; ++i) {
      const float ours = all->channel(
          static_cast<uint32_t>(i % format.channels))[i / format.channels];
      const float expected = Expected(format, data, i);
      ASSERT_EQ(std::memcmp(&ours, &expected, sizeof(ours)), 0)
          << i << ": " << ours << ", not " << expected;
    }
  }

  std::unique_ptr<Host> host_;
};

TEST_P(WavFile, EachKindIsReadBitForBit) {
  for (const auto& [tag, bits] : {std::pair<uint16_t, uint16_t>{kPcm, 8},
                                  {kPcm, 16},
                                  {kPcm, 24},
                                  {kPcm, 32},
                                  {kFloat, 32},
                                  {kFloat, 64}}) {
    SCOPED_TRACE(std::to_string(tag) + ", " + std::to_string(bits));
    std::string data = Data(480);
    if (tag == kFloat && bits == 64) {
      // Excludes numbers that a float cannot represent.
      data.clear();
      for (int i = 0; i < 60; ++i) {
        const double value = std::sin(i) * 1.25;
        data.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
    }
    const Format format{.tag = tag, .channels = 2, .bits = bits};
    ExpectSamples(Wav(format, data), format, data);
    const Format extensible{
        .tag = kExtensible, .channels = 2, .bits = bits, .subformat = tag};
    ExpectSamples(Wav(extensible, data), extensible, data);
  }
}

TEST_P(WavFile, FloatsBeyondOneAreHandedOnAsTheyAre) {
  const float kValues[] = {0, -0.0f, 1.5f, -2, 1e-40f, 3e38f};
  const std::string data(reinterpret_cast<const char*>(kValues),
                         sizeof(kValues));
  const Format format{.tag = kFloat, .bits = 32};
  ExpectSamples(Wav(format, data), format, data);
}

TEST_P(WavFile, SixteenChannelsStayApart) {
  const Format format{.channels = 16, .sample_rate = 48000};
  const std::string data = Data(500 * 32);
  ExpectSamples(Wav(format, data), format, data);
}

TEST_P(WavFile, AnOddDataChunkEndsWhereItsDataDoes) {
  const Format format{.bits = 8};
  const std::string data = Data(1001);
  ExpectSamples(
      Riff(FormatChunk(format) + Chunk("data", data) + Chunk("LIST", "INFO")),
      format, data);
}

TEST_P(WavFile, OtherChunksAreLeftOut) {
  const Format format;
  const std::string data = Data(400);
  ExpectSamples(Riff(Chunk("JUNK", Data(77)) + FormatChunk(format) +
                     Chunk("fact", LittleEndian(200, 4)) + Chunk("data", data)),
                format, data);
}

TEST_P(WavFile, DataThatIsCutOffIsDamage) {
  const std::string file =
      Riff(FormatChunk({}) + Chunk("data", Data(400), 4000));
  auto audio = TryOpen(file);
  ASSERT_TRUE(audio) << audio.error();
  const auto all = audio->AllSamples();
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message().find("it needs 4044 bytes and has 444"),
            std::string::npos)
      << all.error();
}

TEST_P(WavFile, DataOfUnknownLengthGivesWhatThereIs) {
  const Format format;
  const std::string data = Data(400);
  ExpectSamples(Riff(FormatChunk(format) + Chunk("data", data, UINT32_MAX)),
                format, data);
}

TEST_P(WavFile, AWrongAlignmentIsPutRight) {
  Format format{.channels = 2, .align = 3};
  const std::string data = Data(400);
  ExpectSamples(Wav(format, data), format, data);
}

TEST_P(WavFile, WhatIsNoWavFileIsBadInput) {
  const std::string good = Wav({}, Data(400));
  std::string no_riff = good;
  no_riff.replace(0, 4, "XXXX");
  std::string no_wave = good;
  no_wave.replace(8, 4, "XXXX");
  EXPECT_EQ(CodeOf(no_riff), Code::kBadInput);
  EXPECT_EQ(CodeOf(no_wave), Code::kBadInput);
  EXPECT_EQ(CodeOf(good.substr(0, 12)), Code::kBadInput);
  EXPECT_EQ(CodeOf(good.substr(0, 30)), Code::kBadInput) << "within fmt";
}

TEST_P(WavFile, AFormatOfNoChannelsOrRateIsBadInput) {
  EXPECT_EQ(CodeOf(Wav({.channels = 0}, Data(400))), Code::kBadInput);
  EXPECT_EQ(CodeOf(Wav({.sample_rate = 0}, Data(400))), Code::kBadInput);
}

TEST_P(WavFile, AFormatThatNobodyDecodesIsUnsupported) {
  EXPECT_EQ(CodeOf(Wav({.tag = 0x1234}, Data(400))), Code::kUnsupported);
  EXPECT_EQ(CodeOf(Wav({.bits = 48}, Data(400))), Code::kUnsupported);
}

TEST_P(WavFile, AFileWithoutFormatOrDataIsBadInput) {
  EXPECT_EQ(CodeOf(Riff(Chunk("data", Data(400)))), Code::kBadInput);
  EXPECT_EQ(CodeOf(Riff(FormatChunk({}))), Code::kBadInput);
  EXPECT_EQ(CodeOf(Riff(Chunk("fmt ", Data(3)) + Chunk("data", Data(400)))),
            Code::kBadInput)
      << "a fmt that is too short";
  EXPECT_EQ(CodeOf(Riff(Chunk("fmt ", Data(3), UINT32_MAX))), Code::kBadInput);
}

TEST_P(WavFile, NoSamplesAreASoundOfNone) {
  EXPECT_EQ(CodeOf(Wav({}, "")), Code::kOk);
}

INSTANTIATE_TEST_SUITE_P(Backends, WavFile, testing::Values("cpu", "openreg:1"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
