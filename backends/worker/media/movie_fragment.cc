// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/movie_fragment.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace bulkhead::worker {
namespace {

constexpr int64_t kMostHeader = int64_t{16} << 20;
constexpr int64_t kMostTicks = INT64_MAX / 4;

uint64_t Number(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A box inside another.
struct Child {
  std::string_view kind;
  std::span<const uint8_t> content;
};

// Takes the first box off `bytes`. Returns nullopt if there is none.
std::optional<Child> Take(std::span<const uint8_t>& bytes) {
  if (bytes.size() < 8) return std::nullopt;
  const uint64_t size = Number(bytes.first(4));
  if (size < 8 || size > bytes.size()) return std::nullopt;
  const Child child{Text(bytes.subspan(4, 4)),
                    bytes.subspan(8, static_cast<size_t>(size) - 8)};
  bytes = bytes.subspan(static_cast<size_t>(size));
  return child;
}

// A cursor over the fields of a box. Reads zeros behind its end.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t Next(size_t count) {
    if (bytes_.size() < count) {
      ended_ = true;
      bytes_ = {};
      return 0;
    }
    const uint64_t value = Number(bytes_.first(count));
    bytes_ = bytes_.subspan(count);
    return value;
  }
  size_t left() const { return bytes_.size(); }
  bool ended() const { return ended_; }

 private:
  std::span<const uint8_t> bytes_;
  bool ended_ = false;
};

// Adds up the runs of samples of one track in a fragment.
class Runs {
 public:
  Runs(MovieFragment& fragment, int64_t position)
      : fragment_(fragment), position_(position) {}

  uint64_t duration = 0;  // of a sample, unless it has another
  uint64_t size = 0;
  int64_t base = 0;  // the offset that those of the runs count from
  int64_t next = 0;  // the offset of the next sample

  // Returns false if the box has fewer bytes than it tells.
  bool Add(std::span<const uint8_t> run) {
    Fields fields(run);
    const uint64_t flags = fields.Next(4);
    const uint64_t count = fields.Next(4);
    if (flags & 0x1) {
      const auto offset = static_cast<int32_t>(fields.Next(4));
      if (__builtin_add_overflow(base, int64_t{offset}, &next)) return false;
    }
    if (flags & 0x4) fields.Next(4);
    const bool has_duration = flags & 0x100;
    const bool has_size = flags & 0x200;
    size_t others = 0;
    for (const uint64_t flag : {0x400, 0x800}) others += flags & flag ? 4 : 0;
    const size_t each = others + (has_duration ? 4 : 0) + (has_size ? 4 : 0);
    if (fields.ended() || (each > 0 && count > fields.left() / each)) {
      return false;
    }
    if (each == 0) {
      AddEqual(count);
      return true;
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t ticks = has_duration ? fields.Next(4) : duration;
      const uint64_t bytes = has_size ? fields.Next(4) : size;
      fields.Next(others == 8 ? 8 : others);
      AddSamples(1, ticks, bytes, next > position_ ? 1 : 0);
    }
    return true;
  }

 private:
  void AddEqual(uint64_t count) {
    uint64_t behind = count;
    if (next <= position_) {
      const auto before = static_cast<uint64_t>(position_ - next);
      const uint64_t read = size > 0 ? before / size + 1 : count;
      behind = count - std::min(read, count);
    }
    AddSamples(count, duration, size, behind);
  }
  void AddSamples(uint64_t count, uint64_t ticks, uint64_t bytes,
                  uint64_t behind) {
    Grow(fragment_.all, count, ticks, bytes);
    Grow(fragment_.behind, behind, ticks, bytes);
    next = Clamped(__int128{next} + __int128{count} * bytes);
    fragment_.data_end = std::max(fragment_.data_end, next);
  }
  static void Grow(SampleCount& sum, uint64_t count, uint64_t ticks,
                   uint64_t bytes) {
    if (bytes > 0) sum.samples += count;
    sum.ticks = Clamped(__int128{sum.ticks} + __int128{count} * ticks);
  }
  static int64_t Clamped(__int128 value) {
    return static_cast<int64_t>(
        std::clamp<__int128>(value, -kMostTicks, kMostTicks));
  }

  MovieFragment& fragment_;
  const int64_t position_;
};

// Reads one track of a fragment ("traf"). `implicit` is the offset at which the
// samples of the track before end; it moves behind those of this one.
void ReadTrack(std::span<const uint8_t> bytes, const FragmentedTrack& track,
               int64_t position, int64_t& implicit, MovieFragment& fragment) {
  MovieFragment other;  // what is not of the track is read for its length
  MovieFragment* to = nullptr;
  std::optional<Runs> runs;
  while (const auto child = Take(bytes)) {
    fragment.readable &= IsMp4Kind(child->kind);
    Fields fields(child->content);
    if (child->kind == "tfhd") {
      const uint64_t flags = fields.Next(4);
      const auto id = static_cast<uint32_t>(fields.Next(4));
      fragment.readable &=
          std::find(track.ids.begin(), track.ids.end(), id) != track.ids.end();
      const bool is_own = id == track.id;
      to = is_own ? &fragment : &other;
      fragment.has_track |= is_own;
      runs.emplace(*to, position);
      const uint64_t base = flags & 0x1 ? fields.Next(8) & INT64_MAX : 0;
      if (flags & 0x2) fields.Next(4);
      runs->duration = flags & 0x8 ? fields.Next(4) : track.duration;
      runs->size = flags & 0x10 ? fields.Next(4) : track.size;
      runs->base = flags & 0x1       ? static_cast<int64_t>(base)
                   : flags & 0x20000 ? fragment.offset
                                     : implicit;
      runs->next = runs->base;
      fragment.readable &= !fields.ended();
    } else if (child->kind == "tfdt" && to != nullptr) {
      const bool is_long = fields.Next(4) >> 24 == 1;
      const uint64_t begin = fields.Next(is_long ? 8 : 4);
      fragment.readable &= !fields.ended();
      if (!to->begin && begin <= kMostTicks) {
        to->begin = static_cast<int64_t>(begin);
      }
    } else if (child->kind == "trun") {
      fragment.readable &= runs && runs->Add(child->content);
    }
  }
  fragment.readable &= bytes.empty() && runs.has_value();
  if (runs) implicit = runs->next;
}

// Returns the content of a box, empty if it is not in the file.
std::span<const uint8_t> ContentOf(FileWindow& file, const Mp4Box& box) {
  const int64_t size = box.end - box.data;
  if (size <= 0 || size > kMostHeader || box.end > file.size()) return {};
  return file.At(box.data, static_cast<size_t>(size));
}

}  // namespace

bool IsMp4Kind(std::string_view kind) {
  return kind.size() == 4 && std::all_of(kind.begin(), kind.end(), [](char c) {
           return (c >= ' ' && c <= '~') || c == '\xa9';
         });
}

std::optional<Mp4Box> ReadMp4Box(FileWindow& file, int64_t offset) {
  const auto bytes = file.At(offset, 16);
  if (bytes.size() < 8) return std::nullopt;
  Mp4Box box{.kind = std::string(Text(bytes.subspan(4, 4))),
             .data = offset + 8};
  uint64_t size = Number(bytes.first(4));
  if (size == 1) {
    if (bytes.size() < 16) return std::nullopt;
    size = Number(bytes.subspan(8, 8));
    box.data = offset + 16;
  }
  if (size == 0) {
    box.end = file.size();
    box.to_end = true;
  } else if (size < static_cast<uint64_t>(box.data - offset) ||
             size > INT64_MAX ||
             __builtin_add_overflow(offset, static_cast<int64_t>(size),
                                    &box.end)) {
    return std::nullopt;
  }
  return box;
}

std::optional<FragmentedTrack> ReadFragmentedTrack(FileWindow& file,
                                                   const Mp4Box& moov,
                                                   uint32_t id) {
  FragmentedTrack track;
  bool has_track = false;
  std::span<const uint8_t> bytes = ContentOf(file, moov);
  while (const auto child = Take(bytes)) {
    if (child->kind != "mvex") continue;
    std::span<const uint8_t> rest = child->content;
    while (const auto extension = Take(rest)) {
      if (extension->kind != "trex") continue;
      Fields fields(extension->content);
      fields.Next(4);
      track.ids.push_back(static_cast<uint32_t>(fields.Next(4)));
      fields.Next(4);
      const auto duration = static_cast<uint32_t>(fields.Next(4));
      const auto sample_size = static_cast<uint32_t>(fields.Next(4));
      if (track.ids.back() != id) continue;
      has_track = true;
      track.id = id;
      track.duration = duration;
      track.size = sample_size;
    }
  }
  return has_track ? std::make_optional(track) : std::nullopt;
}

MovieFragment ReadMovieFragment(FileWindow& file, int64_t offset,
                                const Mp4Box& moof,
                                const FragmentedTrack& track,
                                int64_t position) {
  MovieFragment fragment{.offset = offset, .end = moof.end};
  std::span<const uint8_t> bytes = ContentOf(file, moof);
  int64_t implicit = offset;
  bool has_tracks = false;
  while (const auto child = Take(bytes)) {
    fragment.readable &= IsMp4Kind(child->kind);
    if (child->kind == "mfhd") {
      Fields fields(child->content);
      fields.Next(4);
      fragment.number = static_cast<uint32_t>(fields.Next(4));
    } else if (child->kind == "traf") {
      has_tracks = true;
      ReadTrack(child->content, track, position, implicit, fragment);
    }
  }
  fragment.readable &= bytes.empty() && has_tracks;
  return fragment;
}

std::vector<int64_t> ReadFragmentIndex(FileWindow& file, const Mp4Box& mfra,
                                       uint32_t id) {
  std::vector<int64_t> times;
  std::span<const uint8_t> bytes = ContentOf(file, mfra);
  while (const auto child = Take(bytes)) {
    if (child->kind != "tfra") continue;
    Fields fields(child->content);
    const size_t length = fields.Next(4) >> 24 == 1 ? 8 : 4;
    if (fields.Next(4) != id) continue;
    const uint64_t sizes = fields.Next(4);
    const uint64_t count = fields.Next(4);
    uint64_t last_offset = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t time = fields.Next(length);
      const uint64_t offset = fields.Next(length);
      for (const int shift : {4, 2, 0}) fields.Next((sizes >> shift & 3) + 1);
      if (fields.ended() || time > kMostTicks) break;
      if (offset != last_offset) times.push_back(static_cast<int64_t>(time));
      last_offset = offset;
    }
  }
  return times;
}

}  // namespace bulkhead::worker
