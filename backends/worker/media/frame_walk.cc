// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/frame_walk.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <utility>

namespace bulkhead::worker {
namespace {

constexpr std::string_view kYuv4Mpeg = "YUV4MPEG2 ";

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A DV frame begins with the header of its first sequence, whose fourth byte
// tells 50 or 60 Hz. The source pack of the picture tells the kind of signal.
std::optional<FrameLayout> OfDv(FileWindow& file) {
  constexpr std::string_view kHeader("\x1f\x07\x00", 3);
  constexpr size_t kSignal = 80 * 5 + 48 + 3;
  constexpr int64_t kSequence = 12'000;
  const auto bytes = file.At(0, kSignal + 1);
  if (bytes.size() <= kSignal || !Text(bytes).starts_with(kHeader)) return {};
  const bool is_50_hz = (bytes[3] & 0x80) != 0;
  int64_t channels = 0;
  switch (bytes[kSignal] & 0x1f) {
    case 0x00:
    case 0x1f:
      channels = 1;
      break;
    case 0x04:
      channels = 2;
      break;
    case 0x14:
      channels = 4;
      break;
    default:
      // 720 lines: the frames of one rate come in two sizes.
      return {};
  }
  return FrameLayout{.bytes = channels * (is_50_hz ? 12 : 10) * kSequence,
                     .header = kHeader};
}

// The number of samples of a frame's planes.
int64_t SamplesOf(std::string_view colors, int64_t width, int64_t height) {
  const int64_t luma = width * height;
  if (colors.starts_with("mono")) return luma;
  if (colors == "444alpha") return 4 * luma;
  if (colors.starts_with("444")) return 3 * luma;
  const int64_t half = (width + 1) / 2;
  if (colors.starts_with("422")) return luma + 2 * half * height;
  if (colors.starts_with("420")) return luma + 2 * half * ((height + 1) / 2);
  if (colors == "411") return luma + 2 * ((width + 3) / 4) * height;
  return 0;
}

std::optional<FrameLayout> OfYuv4Mpeg(FileWindow& file) {
  // The rest of the line may have parameters.
  constexpr std::string_view kFrame = "FRAME";
  constexpr int64_t kLine = 6;
  constexpr size_t kMostHeader = 256;
  constexpr int64_t kMostPixels = 1 << 16;
  const std::string text(Text(file.At(0, kMostHeader)));
  const size_t end = text.find('\n');
  if (!text.starts_with(kYuv4Mpeg) || end == text.npos) return {};
  int64_t width = 0;
  int64_t height = 0;
  std::string colors = "420";
  for (size_t at = kYuv4Mpeg.size(); at < end;) {
    const size_t next = std::min(text.find(' ', at), end);
    const std::string word = text.substr(at, next - at);
    const auto number = [&word] {
      int64_t value = 0;
      std::from_chars(word.data() + 1, word.data() + word.size(), value);
      return value;
    };
    if (word.starts_with('W')) width = number();
    if (word.starts_with('H')) height = number();
    if (word.starts_with('C')) colors = word.substr(1);
    at = next + 1;
  }
  if (width <= 0 || height <= 0 || width > kMostPixels ||
      height > kMostPixels) {
    return {};
  }
  // Names such as 420p10 and mono16 end with a depth; 420paldv and 420jpeg do
  // not.
  const size_t depth = colors.find_first_of("0123456789", 4);
  const bool is_deep = depth != colors.npos && colors != "420mpeg2";
  const int64_t samples = SamplesOf(colors, width, height);
  if (samples == 0) return {};
  return FrameLayout{.first = static_cast<int64_t>(end) + 1,
                     .bytes = kLine + samples * (is_deep ? 2 : 1),
                     .before = kLine,
                     .header = kFrame};
}

}  // namespace

std::optional<FrameLayout> ReadFrameLayout(std::string_view container,
                                           FileWindow& file) {
  std::optional<FrameLayout> layout;
  if (container == "dv") layout = OfDv(file);
  if (container == "yuv4mpegpipe") layout = OfYuv4Mpeg(file);
  if (!layout) return {};
  // The first two frames show whether the frames are laid out so.
  for (const int64_t at : {layout->first, layout->first + layout->bytes}) {
    if (Text(file.At(at, layout->header.size())) != layout->header) return {};
  }
  return layout;
}

int64_t SizeWithLastFrame(const FrameLayout& layout, FileWindow& file) {
  const int64_t rest = (file.size() - layout.first) % layout.bytes;
  const int64_t last = file.size() - rest;
  if (rest == 0) return file.size();
  const auto header = Text(file.At(last, layout.header.size()));
  return layout.header.starts_with(header) ? last + layout.bytes : 0;
}

bool FrameWalk::LostUntil(int64_t position) {
  if (position < 0) return false;
  const int64_t frame = position - layout_.before;
  const int64_t expected = std::exchange(next_, frame + layout_.bytes);
  if (expected < 0 || expected == frame) return false;
  broken_at_ = expected;
  return Text(file_.At(expected, layout_.header.size())) != layout_.header;
}

bool FrameWalk::LostUntilEnd() {
  constexpr size_t kStart = 64;
  const int64_t rest = file_.size() - next_;
  if (next_ < 0 || rest == 0) return false;
  if (rest < 0) {
    // libavformat has returned what it took for a part of the last frame.
    const int64_t last = next_ - layout_.bytes;
    broken_at_ = file_.size();
    is_torn_ = true;
    return Text(file_.At(last, layout_.header.size())) == layout_.header;
  }
  const std::string_view start = Text(file_.At(next_, kStart));
  const std::string_view header = layout_.header.substr(0, start.size());
  const bool is_frame = start.starts_with(header);
  const bool is_other = start.starts_with(kYuv4Mpeg) ||
                        start.find_first_not_of('\0') == start.npos;
  if (!is_frame && (is_other || rest < layout_.bytes)) return false;
  broken_at_ = next_;
  is_torn_ = !is_frame;
  lost_packets_ =
      static_cast<uint64_t>((rest + layout_.bytes - 1) / layout_.bytes);
  return true;
}

}  // namespace bulkhead::worker
