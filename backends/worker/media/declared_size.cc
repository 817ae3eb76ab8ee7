// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/declared_size.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "backends/worker/media/asf_walk.h"
#include "backends/worker/media/declared_video_size.h"
#include "backends/worker/media/file_window.h"
#include "backends/worker/media/matroska_walk.h"
#include "backends/worker/media/ogg_walk.h"

namespace bulkhead::worker {
namespace {

// A file has few parts at the top. A fragmented MP4 has two for each fragment.
constexpr int kMostParts = 1 << 16;
constexpr int kMostChunks = 1024;
constexpr int64_t kMostOggPage = 27 + 255 + 255 * 255;
// Programs that cannot seek back write the largest number, or the largest with
// a sign, less what is before it.
constexpr int64_t kLeastUnknown = 0x7fff0000;

uint64_t Read(std::span<const uint8_t> bytes, bool big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value = value << 8 | bytes[big_endian ? i : bytes.size() - 1 - i];
  }
  return value;
}

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int64_t Sum(int64_t a, uint64_t b) {
  int64_t sum;
  return b > INT64_MAX ||
                 __builtin_add_overflow(a, static_cast<int64_t>(b), &sum)
             ? 0
             : sum;
}

int64_t OfMatroska(FileWindow& file) {
  constexpr uint32_t kSegment = 0x18538067;
  int64_t at = 0;
  for (int part = 0; part < 4; ++part) {
    const auto element = ReadEbmlElement(file, at);
    if (!element || element->size < 0) return 0;
    at = Sum(element->data, static_cast<uint64_t>(element->size));
    if (element->id == kSegment) return at;
  }
  return 0;
}

int64_t OfRiff(FileWindow& file) {
  constexpr int64_t kHeaderBytes = 12;
  int64_t end = 0;
  for (int64_t at = 0; at < file.size() && end < file.size();) {
    const auto bytes = file.At(at, kHeaderBytes);
    if (bytes.size() < kHeaderBytes) return end;
    const std::string_view code = Text(bytes.first(4));
    const auto size = static_cast<int64_t>(Read(bytes.subspan(4, 4), false));
    if (code != "RIFF" || size < 4 || size >= kLeastUnknown) return end;
    end = at = at + 8 + size;
  }
  return end;
}

// Returns the content of the chunk `name` among those from `at` on; empty if it
// is not told. A size of `size_bytes` follows the name of a chunk.
ByteRange OfChunk(FileWindow& file, int64_t at, std::string_view name,
                  int64_t size_bytes, bool big_endian) {
  int64_t long_size = 0;
  for (int part = 0; part < kMostChunks; ++part) {
    const auto bytes = file.At(at, 24);
    const int64_t header = 4 + size_bytes;
    if (static_cast<int64_t>(bytes.size()) < header) return {};
    const auto size = static_cast<int64_t>(
        Read(bytes.subspan(4, static_cast<size_t>(size_bytes)), big_endian));
    const std::string_view code = Text(bytes.first(4));
    if (code == "ds64" && bytes.size() == 24) {
      long_size = static_cast<int64_t>(Read(bytes.subspan(16, 8), false));
    }
    if (code == name) {
      const bool is_long = size_bytes == 4 && size == UINT32_MAX;
      const int64_t told = is_long ? long_size : size;
      const bool is_known =
          told > 0 && (is_long || size_bytes == 8 || told < kLeastUnknown);
      if (!is_known) return {};
      return {at + header, Sum(at + header, static_cast<uint64_t>(told))};
    }
    if (size < 0 || size > file.size()) return {};
    // All but CAF fill up to an even size.
    at += header + size + (size_bytes == 4 ? size % 2 : 0);
  }
  return {};
}

ByteRange OfWav(FileWindow& file) {
  return OfChunk(file, 12, "data", 4, false);
}

int64_t OfAu(FileWindow& file) {
  const auto bytes = file.At(0, 12);
  if (bytes.size() < 12 || Text(bytes.first(4)) != ".snd") return 0;
  const auto header = static_cast<int64_t>(Read(bytes.subspan(4, 4), true));
  const auto size = static_cast<int64_t>(Read(bytes.subspan(8, 4), true));
  return size < kLeastUnknown ? header + size : 0;
}

int64_t OfBoxes(FileWindow& file) {
  int64_t at = 0;
  for (int part = 0; part < kMostParts && at < file.size(); ++part) {
    const auto bytes = file.At(at, 16);
    if (bytes.size() < 8) return 0;
    const std::string_view kind = Text(bytes.subspan(4, 4));
    const bool is_kind = std::all_of(
        kind.begin(), kind.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_kind) return 0;
    uint64_t size = Read(bytes.first(4), true);
    if (size == 1 && bytes.size() == 16) size = Read(bytes.subspan(8, 8), true);
    // 0: up to the end of the file.
    if (size < 8) return 0;
    at = Sum(at, size);
    if (at == 0) return 0;
    constexpr std::string_view kOfMedia = "mdat moof styp sidx emsg prft";
    if (at > file.size() && kOfMedia.find(kind) == kOfMedia.npos) return 0;
  }
  return at;
}

int64_t OfOgg(FileWindow& file) {
  const int64_t from = std::max<int64_t>(file.size() - kMostOggPage, 0);
  // All at once, since the search goes backwards.
  (void)file.At(from, static_cast<size_t>(kMostOggPage));
  for (int64_t at = file.size(); at-- > from;) {
    if (const auto page = ReadOggPage(file, at)) return page->end;
  }
  return 0;
}

int64_t OfTransport(FileWindow& file) {
  constexpr int64_t kPacketBytes = 188;
  constexpr uint8_t kSync = 0x47;
  const int64_t last = file.size() / kPacketBytes * kPacketBytes;
  if (last == file.size()) return 0;
  for (const int64_t at :
       {int64_t{0}, kPacketBytes, last - kPacketBytes, last}) {
    const auto byte = file.At(at, 1);
    if (byte.empty() || byte[0] != kSync) return 0;
  }
  return last + kPacketBytes;
}

// Returns the number with this name in the metadata of FLV, or 0.
double MetadataOfFlv(std::string_view metadata, std::string_view name) {
  // In front of a name there is its length, and behind it the type, 0 for a
  // number.
  std::string text{'\0', static_cast<char>(name.size())};
  text.append(name).push_back('\0');
  const size_t found = metadata.find(text);
  if (found == metadata.npos || found + text.size() + 8 > metadata.size()) {
    return 0;
  }
  uint64_t bits = 0;
  for (const char c : metadata.substr(found + text.size(), 8)) {
    bits = bits << 8 | static_cast<uint8_t>(c);
  }
  return std::bit_cast<double>(bits);
}

// Returns the time of the last tag of FLV in milliseconds, or -1 if the file
// does not end with a whole tag.
int64_t LastTimeOfFlv(FileWindow& file) {
  constexpr int64_t kHeaderBytes = 11;
  const auto end = file.At(file.size() - 4, 4);
  if (end.size() < 4) return -1;
  const auto tag_bytes = static_cast<int64_t>(Read(end, true));
  const auto tag = file.At(file.size() - 4 - tag_bytes, kHeaderBytes);
  if (tag_bytes < kHeaderBytes || tag.size() < kHeaderBytes ||
      static_cast<int64_t>(Read(tag.subspan(1, 3), true)) + kHeaderBytes !=
          tag_bytes) {
    return -1;
  }
  return static_cast<int64_t>(Read(tag.subspan(4, 3), true) | uint64_t{tag[7]}
                                                                  << 24);
}

int64_t OfFlv(FileWindow& file) {
  constexpr size_t kMostMetadata = 64 << 10;
  // Programs that copy the metadata of another file write its size, too.
  constexpr double kClearlyMissing = 1000;
  // Behind the last tag there is only its size.
  constexpr double kSizeBytes = 4;
  // The least that a tag has.
  constexpr double kTagBytes = 15;
  const auto bytes = file.At(0, kMostMetadata);
  const std::string metadata(Text(bytes));
  if (metadata.find("onMetaData") == metadata.npos) return 0;
  const double size = MetadataOfFlv(metadata, "filesize");
  const double milliseconds = 1000 * MetadataOfFlv(metadata, "duration");
  if (!(size > 0 && size < 0x1p52)) return 0;
  const double missing = size - static_cast<double>(file.size());
  if (missing > 0 && missing <= kSizeBytes) return 0;
  if (missing <= 0) return static_cast<int64_t>(size);
  const int64_t last = LastTimeOfFlv(file);
  // libavformat copies no size. Bytes are missing also where the end is whole.
  const bool is_own = metadata.find("Lavf") != metadata.npos;
  if (last >= 0 && !(is_own && missing >= kTagBytes) &&
      !(milliseconds - static_cast<double>(last) > kClearlyMissing)) {
    return 0;
  }
  return static_cast<int64_t>(size);
}

}  // namespace

int64_t DeclaredSize(std::string_view container, MediaBytes bytes,
                     int64_t size) {
  FileWindow file(bytes, size);
  int64_t declared = 0;
  if (container == "matroska,webm") declared = OfMatroska(file);
  if (container == "avi") declared = OfRiff(file);
  if (container == "wav") declared = OfWav(file).end;
  if (container == "aiff") declared = OfChunk(file, 12, "SSND", 4, true).end;
  if (container == "caf") declared = OfChunk(file, 8, "data", 8, true).end;
  if (container == "au") declared = OfAu(file);
  if (container == "mov,mp4,m4a,3gp,3g2,mj2") declared = OfBoxes(file);
  if (container == "mpegts") declared = OfTransport(file);
  if (container == "ogg") declared = OfOgg(file);
  if (container == "flv") declared = OfFlv(file);
  if (container == "asf") declared = ReadAsfHeader(file).end;
  if (declared == 0) declared = DeclaredVideoSize(container, file);
  return declared;
}

ByteRange WavSamples(MediaBytes bytes, int64_t size) {
  FileWindow file(bytes, size);
  return OfWav(file);
}

int64_t AsfMicroseconds(MediaBytes bytes, int64_t size) {
  FileWindow file(bytes, size);
  return ReadAsfHeader(file).microseconds;
}

}  // namespace bulkhead::worker
