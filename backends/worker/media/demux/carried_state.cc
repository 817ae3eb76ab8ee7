// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/carried_state.h"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/intreadwrite.h>
}

#include "backends/worker/media/damage/av1_units.h"
#include "backends/worker/media/damage/header_bits.h"
#include "backends/worker/media/damage/nal_units.h"
#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker::demux {
namespace {

// Keys of items: the kind, and the number of the item in the lower byte. The
// kinds of units are below these, and differ in meaning from codec to codec.
constexpr uint32_t kPalette = 0x10000;
constexpr uint32_t kExtradata = 0x10100;
constexpr uint32_t kEncoder = 0x10200;  // of H.264
constexpr uint32_t kGrain = 0x10300;

// The names of side data that is state.
constexpr std::string_view kPaletteName = "Palette";
constexpr std::string_view kExtradataName = "New Extradata";

constexpr uint32_t Key(uint32_t kind, uint32_t number) {
  return kind << 8 | (number & 0xff);
}

// The start of a parameter set is enough to find its number.
constexpr size_t kHeadBytes = 128;

// Returns the number that follows `skipped` bits after the header of the unit,
// in the code ue(v) (ITU-T H.264, section 7.3.2; H.265, section 7.3.2).
uint32_t NumberOf(std::span<const uint8_t> unit, size_t header_bytes,
                  int skipped) {
  const auto head = damage::WithoutEscapes(
      unit.subspan(std::min(header_bytes, unit.size())), kHeadBytes);
  damage::HeaderBits bits(head.data(), head.size());
  bits.Bits(skipped);
  return bits.Ue();
}

// Returns the number of a sequence parameter set of HEVC. The number stands
// after the profiles and levels (ITU-T H.265, section 7.3.3).
uint32_t HevcSequenceNumber(std::span<const uint8_t> unit) {
  constexpr int kProfileBits = 88;
  constexpr int kLevelBits = 8;
  const auto head = damage::WithoutEscapes(unit.subspan(2), kHeadBytes);
  damage::HeaderBits bits(head.data(), head.size());
  const auto skip = [&bits](int count) {
    while (count-- > 0) bits.Bit();
  };
  skip(4);
  const uint32_t layers = bits.Bits(3);  // below the highest one
  skip(1 + kProfileBits + kLevelBits);
  int layer_bits = 0;
  for (uint32_t i = 0; layers > 0 && i < 8; ++i) {
    if (bits.Bit() != 0 && i < layers) layer_bits += kProfileBits;
    if (bits.Bit() != 0 && i < layers) layer_bits += kLevelBits;
  }
  skip(layer_bits);
  return bits.Ue();
}

// Removes the zero bytes that may follow a unit in Annex B format.
std::span<const uint8_t> WithoutPadding(std::span<const uint8_t> unit) {
  while (!unit.empty() && unit.back() == 0) unit = unit.first(unit.size() - 1);
  return unit;
}

}  // namespace

CarriedState::CarriedState(const AVCodecParameters& parameters)
    : codec_(parameters.codec_id) {
  const Bytes extradata(
      parameters.extradata,
      parameters.extradata == nullptr
          ? 0
          : static_cast<size_t>(std::max(parameters.extradata_size, 0)));
  switch (codec_) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
      length_bytes_ =
          damage::NalLengthBytes(codec_ == AV_CODEC_ID_HEVC, extradata);
      if (length_bytes_ > 0) {
        ReadParameterSets(extradata);
      } else {
        ReadUnits(extradata, 0);
      }
      break;
    case AV_CODEC_ID_AV1:
      // An av1C record begins with this byte (marker and version).
      if (!extradata.empty() && extradata[0] == 0x81) {
        ReadAv1(extradata.subspan(
            std::min(damage::kAv1RecordBytes, extradata.size())));
      } else {
        ReadAv1(extradata);
      }
      break;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      ReadUnits(extradata, 0);
      break;
    default:
      break;
  }
  initial_ = now_;
}

// Reads the parameter sets of an avcC or hvcC record (ISO/IEC 14496-15).
void CarriedState::ReadParameterSets(Bytes extradata) {
  const bool hevc = codec_ == AV_CODEC_ID_HEVC;
  size_t at = hevc ? 22 : 5;
  const auto next = [&](size_t bytes) {
    const size_t begin = std::min(at, extradata.size());
    at += bytes;
    return extradata.subspan(begin, std::min(bytes, extradata.size() - begin));
  };
  const auto number = [&](size_t bytes) {
    size_t value = 0;
    for (const uint8_t byte : next(bytes)) value = value << 8 | byte;
    return value;
  };
  // avcC has one list of sequence and one of picture parameter sets. hvcC says
  // how many lists it has.
  const size_t lists = hevc ? number(1) : 2;
  for (size_t list = 0; list < lists && at < extradata.size(); ++list) {
    if (hevc) next(1);  // the type of the units
    size_t units = number(hevc ? 2 : 1);
    if (!hevc && list == 0) units &= 0x1f;  // after three reserved bits
    for (; units > 0 && at < extradata.size(); --units) {
      const Bytes unit = next(number(2));
      if (unit.empty()) continue;
      if (hevc) {
        ReadHevcUnit(unit);
      } else {
        ReadH264Unit(unit);
      }
    }
  }
}

bool CarriedState::Read(const bulkhead_packet& packet) {
  set_.clear();
  sets_in_time_ = true;
  for (size_t i = 0; i < packet.side_data_count; ++i) {
    const bulkhead_side_data& data = packet.side_data[i];
    if (!Carries(data)) continue;
    const bool is_palette = data.kind == kPaletteName;
    Set(is_palette ? kPalette : kExtradata, {data.data, data.bytes});
  }
  const Bytes data(packet.data, packet.bytes);
  switch (codec_) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      ReadUnits(data, length_bytes_);
      break;
    case AV_CODEC_ID_AV1:
      ReadAv1(data);
      break;
    case AV_CODEC_ID_MJPEG:
    case AV_CODEC_ID_LJPEG:
    case AV_CODEC_ID_JPEGLS:
      ReadJpeg(data);
      break;
    default:
      break;
  }
  return std::all_of(now_.begin(), now_.end(), [this](const auto& item) {
    if (set_.contains(item.first)) return true;
    const auto initial = initial_.find(item.first);
    return initial != initial_.end() && initial->second == item.second;
  });
}

bool CarriedState::depends_on_threads() const {
  return codec_ == AV_CODEC_ID_HEVC && now_.contains(kGrain);
}

bool CarriedState::Carries(const bulkhead_side_data& side_data) {
  return side_data.kind == kPaletteName || side_data.kind == kExtradataName;
}

void CarriedState::Set(uint32_t key, Bytes value) {
  now_[key] = XXH3_64bits(value.data(), value.size());
  if (sets_in_time_) set_.insert(key);
}

void CarriedState::ReadUnits(Bytes data, uint32_t length_bytes) {
  damage::ForEachNalUnit(data, length_bytes, [this](Bytes unit) {
    switch (codec_) {
      case AV_CODEC_ID_H264:
        return ReadH264Unit(unit);
      case AV_CODEC_ID_HEVC:
        return ReadHevcUnit(unit);
      case AV_CODEC_ID_MPEG4:
        return ReadMpeg4Unit(unit);
      default:
        return ReadMpeg2Unit(unit);
    }
  });
}

// libavcodec's decoder of H.264 reproduces bugs of old builds of x264: of
// builds before 34 in all streams, of builds before 151 in 4:4:4 only. x264
// states its build once, in the first packet.
void CarriedState::ReadSei(Bytes unit, size_t header_bytes) {
  constexpr uint32_t kUserData = 5;
  constexpr uint32_t kFilmGrain = 19;
  constexpr size_t kIdentifierBytes = 16;
  constexpr int kFirstSoundBuild = 34;
  constexpr int kFirstSoundBuildFor444 = 151;
  damage::ForEachSeiMessage(
      unit, header_bytes, [&](uint32_t type, Bytes payload) {
        if (type == kFilmGrain) SetForGood(kGrain);
        if (type != kUserData || payload.size() <= kIdentifierBytes) return;
        const std::string text(payload.begin() + kIdentifierBytes,
                               payload.end());
        int build = 0;
        if (std::sscanf(text.c_str(), "x264 - core %d", &build) != 1) return;
        // Only the fact that the build is old counts, so it has no value.
        if (build < (is_444_ ? kFirstSoundBuildFor444 : kFirstSoundBuild)) {
          Set(kEncoder, {});
        }
      });
}

void CarriedState::ReadH264Unit(Bytes unit) {
  constexpr uint32_t kSei = 6;
  constexpr uint32_t kSequence = 7;
  constexpr uint32_t kPicture = 8;
  constexpr uint32_t kExtension = 13;
  constexpr uint8_t kHigh444 = 244;
  const uint32_t type = unit[0] & 0x1f;
  if (type == kSei) ReadSei(unit, 1);
  if (type == kSequence && unit.size() > 1) {
    is_444_ = is_444_ || unit[1] == kHigh444;
  }
  if (type != kSequence && type != kPicture && type != kExtension) return;
  // The profile, its constraints and the level stand before the number of a
  // sequence parameter set.
  const uint32_t number = NumberOf(unit, 1, type == kSequence ? 24 : 0);
  Set(Key(type, number), WithoutPadding(unit));
}

void CarriedState::ReadHevcUnit(Bytes unit) {
  constexpr uint32_t kVideo = 32;
  constexpr uint32_t kSequence = 33;
  constexpr uint32_t kPicture = 34;
  constexpr uint32_t kPrefixSei = 39;
  constexpr uint32_t kSuffixSei = 40;
  const uint32_t type = unit[0] >> 1 & 0x3f;
  if (type == kPrefixSei || type == kSuffixSei) ReadSei(unit, 2);
  if (type < kVideo || type > kPicture || unit.size() < 4) return;
  uint32_t number = unit[2] >> 4;  // of a video parameter set
  if (type == kSequence) number = HevcSequenceNumber(unit);
  if (type == kPicture) number = NumberOf(unit, 2, 0);
  Set(Key(type, number), WithoutPadding(unit));
}

// ITU-T H.262, section 6.2.2. A sequence header sets the matrices anew.
void CarriedState::ReadMpeg2Unit(Bytes unit) {
  constexpr uint8_t kSequence = 0xb3;
  constexpr uint8_t kExtension = 0xb5;
  constexpr uint8_t kUserData = 0xb2;
  constexpr uint32_t kMatrices = 3;
  // libavcodec reproduces a bug of this encoder.
  constexpr std::string_view kTmpgEncoder = "TMPGEXS";
  if (unit[0] == kUserData) {
    const std::string_view text(reinterpret_cast<const char*>(unit.data()),
                                std::min<size_t>(unit.size(), 32));
    if (text.find(kTmpgEncoder) != text.npos) Set(Key(kUserData, 0), {});
  } else if (unit[0] == kSequence) {
    Set(Key(kSequence, 0), WithoutPadding(unit));
    Set(Key(kExtension, kMatrices), {});
  } else if (unit[0] == kExtension && unit.size() > 1) {
    const uint32_t kind = unit[1] >> 4;
    constexpr uint32_t kOfSequence = 1 << 1 | 1 << 2 | 1 << 5;
    if (kind == kMatrices || (kOfSequence >> kind & 1) != 0) {
      Set(Key(kExtension, kind), WithoutPadding(unit));
    }
  }
}

// ISO/IEC 14496-2, section 6.2. User data may name an encoder. libavcodec works
// around the bugs of each encoder that was named.
void CarriedState::ReadMpeg4Unit(Bytes unit) {
  constexpr uint8_t kLastOfLayers = 0x2f;
  constexpr uint8_t kSequence = 0xb0;
  constexpr uint8_t kUserData = 0xb2;
  constexpr uint8_t kObject = 0xb5;
  if (unit[0] == kUserData && unit.size() > 1) {
    Set(Key(kUserData, unit[1]), WithoutPadding(unit));
  } else if (unit[0] <= kLastOfLayers || unit[0] == kSequence ||
             unit[0] == kObject) {
    Set(Key(unit[0], 0), WithoutPadding(unit));
  }
}

void CarriedState::ReadAv1(Bytes data) {
  damage::ForEachAv1Unit(data, [this](uint32_t type, Bytes payload) {
    if (type == damage::kAv1SequenceHeader) Set(Key(type, 0), payload);
  });
}

// Walks the segments of JPEG images (ITU-T T.81, annex B). Tables after the
// first scan count for the packets that follow.
void CarriedState::ReadJpeg(Bytes data) {
  constexpr uint8_t kScan = 0xda;
  constexpr uint8_t kLastWithoutLength = 0xd9;
  constexpr uint8_t kFirstMarker = 0xc0;
  for (size_t at = 0; at + 3 < data.size();) {
    const void* const mark =
        std::memchr(data.data() + at, 0xff, data.size() - at - 3);
    if (mark == nullptr) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(mark) - data.data());
    const uint8_t marker = data[at + 1];
    // Skips coded data and padding, which are no markers.
    if (marker < kFirstMarker || marker == 0xff) {
      ++at;
      continue;
    }
    at += 2;
    // These markers have no segment: start and end of an image, restarts.
    if (marker >= 0xd0 && marker <= kLastWithoutLength) continue;
    const size_t bytes = AV_RB16(data.data() + at);
    if (bytes < 2 || bytes > data.size() - at) continue;
    ReadJpegTables(marker, data.subspan(at + 2, bytes - 2));
    at += bytes;
    if (marker == kScan) sets_in_time_ = false;
  }
}

void CarriedState::ReadJpegTables(uint8_t marker, Bytes segment) {
  constexpr uint8_t kHuffman = 0xc4;
  constexpr uint8_t kQuantisation = 0xdb;
  constexpr uint8_t kJpegLs = 0xf8;
  constexpr uint8_t kFirstApplication = 0xe0;
  constexpr uint8_t kLastApplication = 0xef;
  constexpr uint8_t kComment = 0xfe;
  // libavcodec recognizes some encoders by these segments, also by missing
  // ones.
  const bool names_encoder =
      marker == kComment ||
      (marker >= kFirstApplication && marker <= kLastApplication);
  if ((marker == kJpegLs || names_encoder) && !segment.empty()) {
    Set(Key(marker, segment[0]), names_encoder ? Bytes() : segment);
  }
  if (marker != kHuffman && marker != kQuantisation) return;
  // Each table begins with its number.
  while (!segment.empty()) {
    size_t bytes = 1 + (segment[0] >> 4 != 0 ? 128 : 64);
    if (marker == kHuffman) {
      // Its number, 16 counts, and as many values as the counts add up to.
      bytes = 17;
      for (size_t i = 1; i < 17 && i < segment.size(); ++i) bytes += segment[i];
    }
    bytes = std::min(bytes, segment.size());
    const uint8_t number =
        marker == kHuffman ? segment[0] : segment[0] & uint8_t{0x0f};
    Set(Key(marker, number), segment.first(bytes));
    segment = segment.subspan(bytes);
  }
}

}  // namespace bulkhead::worker::demux
