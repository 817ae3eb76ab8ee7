// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/sample_writer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::writers {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();
constexpr uint16_t kFloat = 3;  // WAVE_FORMAT_IEEE_FLOAT
// The offsets of the two lengths in the header. Each is the number of bytes
// after it.
constexpr uint64_t kRiffLength = 4;
constexpr uint64_t kDataLength = 40;
constexpr uint64_t kHeaderBytes = 44;

template <typename Integer>
void Append(Integer value, std::string& out) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    out += static_cast<char>(value >> (8 * i));
  }
}

}  // namespace

Status SampleWriter::WriteHeader(const AudioSamples& samples) {
  const auto align = static_cast<uint16_t>(samples.channels * sizeof(float));
  std::string header = "RIFF";
  Append(kUnknown, header);
  header += "WAVEfmt ";
  Append(uint32_t{16}, header);  // The bytes of the fields up to "data".
  Append(kFloat, header);
  Append(static_cast<uint16_t>(samples.channels), header);
  Append(samples.sample_rate, header);
  Append(samples.sample_rate * align, header);  // Bytes per second.
  Append(align, header);                        // Bytes of all channels.
  Append(static_cast<uint16_t>(8 * sizeof(float)), header);
  header += "data";
  Append(kUnknown, header);
  return output_.Write(header);
}

Status SampleWriter::Write(const AudioSamples& samples) {
  if (format_ == Format::kWav && !begun_) {
    if (Status status = WriteHeader(samples); !status.ok()) return status;
  }
  begun_ = true;
  std::vector<float> interleaved(samples.data.size());
  for (uint32_t c = 0; c < samples.channels; ++c) {
    const std::span<const float> channel = samples.channel(c);
    for (size_t i = 0; i < channel.size(); ++i) {
      interleaved[i * samples.channels + c] = channel[i];
    }
  }
  const auto bytes = std::as_bytes(std::span(interleaved));
  data_bytes_ += bytes.size();
  return output_.Write(bytes);
}

Status SampleWriter::Finish() {
  if (Status status = output_.Close(); !status.ok()) return status;
  if (format_ == Format::kRaw || !begun_) return Status();
  return WriteLengths();
}

Status SampleWriter::WriteLengths() {
  if (data_bytes_ + kHeaderBytes > kUnknown || !output_.overwritable()) {
    return Status();
  }
  const auto put = [this](uint64_t at, uint64_t length) {
    std::string bytes;
    Append(static_cast<uint32_t>(length), bytes);
    return output_.Overwrite(at, bytes);
  };
  Status status = put(kRiffLength, kHeaderBytes - 8 + data_bytes_);
  return status.ok() ? put(kDataLength, data_bytes_) : status;
}

}  // namespace bulkhead::writers
