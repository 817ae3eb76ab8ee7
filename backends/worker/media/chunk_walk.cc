// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/chunk_walk.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/worker/media/end_padding.h"

namespace bulkhead::worker {
namespace {

// An AVI chunk begins with a code and a size, a list also with its kind.
constexpr int64_t kAviHeaderBytes = 8;
constexpr int64_t kAviListBytes = 12;
constexpr int64_t kFlvHeaderBytes = 11;
constexpr int64_t kFlvSizeBytes = 4;
constexpr int kFlvPictures = 9;

bool IsCode(std::string_view code) {
  return std::all_of(code.begin(), code.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool ChunkWalk::LostUntil(int64_t position) {
  if (position < 0 || position == last_) return false;
  // Sound is read in parts of a chunk.
  if (last_ >= 0 && position > last_ && position < next_) {
    last_ = position;
    return false;
  }
  const int64_t chunk = ChunkOf(position);
  // Chunks that libavformat reads in another order than that of the file.
  const bool forward = position > last_ && next_ >= 0 && next_ <= chunk;
  last_ = position;
  bool lost = false;
  bool missed = false;
  while (forward && next_ < chunk && !lost) {
    const int64_t after = After(next_);
    lost = after < 0 || after > chunk;
    const bool is_missed = !lost && IsMissed(next_);
    if (lost || (is_missed && !missed)) broken_at_ = next_;
    missed |= is_missed;
    if (!lost) next_ = after;
  }
  const bool behind_hole = IsBehindHole(chunk) && forward;
  if (behind_hole && !lost && !missed) broken_at_ = chunk;
  is_torn_ = lost;
  next_ = After(chunk);
  return lost || missed || behind_hole;
}

bool ChunkWalk::LostUntilEnd() {
  while (next_ >= 0 && next_ < file_.size()) {
    if (IsEnd(next_)) return false;
    broken_at_ = next_;
    next_ = After(next_);
  }
  is_torn_ = true;
  return next_ < 0 || next_ > file_.size() + 1;
}

bool ChunkWalk::IsEnd(int64_t offset) {
  // A byte may make the size even.
  const int64_t behind = offset - declared_size();
  if (behind == 0 || behind == 1) return true;
  if (behind < 0) return false;
  if (!padding_start_) padding_start_ = PaddingStart(file_);
  return offset >= *padding_start_;
}

void ChunkWalk::Restart() {
  last_ = -1;
  next_ = -1;
}

int64_t AviWalk::After(int64_t offset) {
  const auto bytes = file_.At(offset, kAviListBytes);
  if (bytes.size() < kAviHeaderBytes) return -1;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  const std::string_view code = text.substr(0, 4);
  if (!IsCode(code)) return -1;
  const std::string_view kind = text.substr(8);
  if (code == "RIFF") return offset + kAviListBytes;
  if (code == "LIST" && (kind == "movi" || kind == "rec ")) {
    return offset + kAviListBytes;
  }
  const int64_t size = int64_t{bytes[4]} | int64_t{bytes[5]} << 8 |
                       int64_t{bytes[6]} << 16 | int64_t{bytes[7]} << 24;
  const int64_t end = offset + kAviHeaderBytes + size;
  if (size % 2 == 0) return end;
  // Some programs leave out the byte that makes the size even.
  const auto next = file_.At(end, 5);
  if (next.size() < 5) return end + 1;
  const std::string_view behind(reinterpret_cast<const char*>(next.data()), 5);
  return !IsCode(behind.substr(1)) && IsCode(behind.substr(0, 4)) ? end
                                                                  : end + 1;
}

bool FlvWalk::IsMissed(int64_t offset) {
  constexpr int kSound = 8;
  constexpr int kAac = 10;
  const auto bytes = file_.At(offset, kFlvHeaderBytes + 2);
  if (!is_sound_ || offset == 0 || bytes.size() < kFlvHeaderBytes + 2 ||
      (bytes[0] & 0x1f) != kSound) {
    return false;
  }
  const bool is_short = bytes[1] == 0 && bytes[2] == 0 && bytes[3] <= 2;
  const bool is_header = bytes[11] >> 4 == kAac && bytes[12] == 0;
  return !is_short && !is_header;
}

int64_t FlvWalk::TimeOfPicture(int64_t offset) {
  constexpr int kH264 = 7;
  constexpr int kPackets = 1;
  const auto bytes = file_.At(offset, kFlvHeaderBytes + 2);
  if (bytes.size() < kFlvHeaderBytes + 2 || (bytes[0] & 0x1f) != kFlvPictures) {
    return -1;
  }
  // The others hold the codec's headers and the end.
  if ((bytes[11] & 15) == kH264 && bytes[12] != kPackets) return -1;
  return int64_t{bytes[7]} << 24 | int64_t{bytes[4]} << 16 |
         int64_t{bytes[5]} << 8 | int64_t{bytes[6]};
}

int64_t FlvWalk::ReadStep() {
  // Longer steps are no frame rate.
  constexpr int64_t kMostMilliseconds = 1000;
  constexpr int kMostTags = 1 << 16;
  constexpr size_t kLeastSteps = 8;
  std::vector<int64_t> steps;
  int64_t last = -1;
  int64_t at = 0;
  for (int tags = 0; tags < kMostTags && at >= 0 && at < file_.size(); ++tags) {
    const int64_t time = TimeOfPicture(at);
    if (time >= 0 && last >= 0) {
      steps.push_back(std::clamp<int64_t>(time - last, 0, kMostMilliseconds));
    }
    if (time >= 0) last = time;
    at = After(at);
  }
  if (steps.size() < kLeastSteps) return 0;
  std::sort(steps.begin(), steps.end());
  // Nearly all are equal, but for the rounding to milliseconds.
  const int64_t step = steps[steps.size() / 2];
  const auto is_usual = [step](int64_t other) {
    return other >= step - 1 && other <= step + 1;
  };
  const auto usual =
      static_cast<size_t>(std::count_if(steps.begin(), steps.end(), is_usual));
  return usual >= steps.size() * 9 / 10 ? step : 0;
}

bool FlvWalk::IsBehindHole(int64_t offset) {
  if (declared_size_ <= file_.size() || is_sound_) return false;
  if (!step_) step_ = ReadStep();
  const int64_t time = TimeOfPicture(offset);
  const int64_t last = std::exchange(last_time_, time);
  return *step_ > 0 && last >= 0 && time - last > *step_ * 3 / 2 + 1;
}

int64_t FlvWalk::After(int64_t offset) {
  const auto bytes = file_.At(offset, kFlvHeaderBytes);
  if (bytes.size() < 9) return -1;
  constexpr std::string_view kHeader("FLV\1", 4);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), 4);
  if (offset == 0 || text == kHeader) {
    const int64_t header = int64_t{bytes[5]} << 24 | int64_t{bytes[6]} << 16 |
                           int64_t{bytes[7]} << 8 | int64_t{bytes[8]};
    return offset + header + kFlvSizeBytes;
  }
  const int kind = bytes[0] & 0x1f;
  if (kind != 8 && kind != kFlvPictures && kind != 18) return -1;
  const int64_t size =
      int64_t{bytes[1]} << 16 | int64_t{bytes[2]} << 8 | int64_t{bytes[3]};
  const int64_t end = offset + kFlvHeaderBytes + size;
  const auto behind = file_.At(end, kFlvSizeBytes);
  if (behind.size() == kFlvSizeBytes) {
    const int64_t again = int64_t{behind[0]} << 24 | int64_t{behind[1]} << 16 |
                          int64_t{behind[2]} << 8 | int64_t{behind[3]};
    const bool is_right = again == kFlvHeaderBytes + size;
    if (!has_right_sizes_) has_right_sizes_ = is_right;
    if (*has_right_sizes_ && !is_right) return -1;
  }
  return end + kFlvSizeBytes;
}

}  // namespace bulkhead::worker
