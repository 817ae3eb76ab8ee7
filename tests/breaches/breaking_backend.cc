// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with an option `breach`, which names one rule of
// bulkhead_backend.h that the backend then breaks. "late" and "drop" break no
// rule: the first is slow to give its last frames, the second loses frames.
// "time_of_another" gives one frame the timestamp of the frame before.
// "reject" breaks none either: it rejects packets, and says why. "reject_late"
// takes a packet, and says in place of its frame that it is damaged.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr int kHonestFrames = 10;
// How often "late" says, before each of its last frames, that the frame is not
// ready yet.
constexpr int kNotYet = 5;
// "drop" loses one frame of this many.
constexpr int kDropped = 7;

enum class Breach {
  kNone,
  kAgainFromBoth,
  kAgainAtEnd,
  kLate,
  kDrop,
  kReject,
  kRejectLate,
  kEndEarly,
  kEndFromSend,
  kNoFrame,
  kEqualTimes,
  kBogusBuffer,
  kFewPlanes,
  kNarrowRows,
  kNoFormat,
  kUnknownResult,
  kDamageForEver,
  kNoDecoder,
  kAgainFromOpen,
  kForeignTimes,
  kNoTimes,
  kTimeOfAnother,
  kInvented,
  kUpsideDown,
  kOddFormat,
  kSwapped,
  kMuchLater,
  kNoSize,
  kBadPointer,
};

const std::map<std::string, Breach>& Breaches() {
  static const std::map<std::string, Breach> breaches = {
      {"again_from_both", Breach::kAgainFromBoth},
      {"again_at_end", Breach::kAgainAtEnd},
      {"late", Breach::kLate},
      {"drop", Breach::kDrop},
      {"reject", Breach::kReject},
      {"reject_late", Breach::kRejectLate},
      {"end_early", Breach::kEndEarly},
      {"end_from_send", Breach::kEndFromSend},
      {"no_frame", Breach::kNoFrame},
      {"equal_times", Breach::kEqualTimes},
      {"bogus_buffer", Breach::kBogusBuffer},
      {"few_planes", Breach::kFewPlanes},
      {"narrow_rows", Breach::kNarrowRows},
      {"no_format", Breach::kNoFormat},
      {"unknown_result", Breach::kUnknownResult},
      {"damage_for_ever", Breach::kDamageForEver},
      {"no_decoder", Breach::kNoDecoder},
      {"again_from_open", Breach::kAgainFromOpen},
      {"foreign_times", Breach::kForeignTimes},
      {"no_times", Breach::kNoTimes},
      {"time_of_another", Breach::kTimeOfAnother},
      {"invented", Breach::kInvented},
      {"upside_down", Breach::kUpsideDown},
      {"odd_format", Breach::kOddFormat},
      {"swapped", Breach::kSwapped},
      {"much_later", Breach::kMuchLater},
      {"no_size", Breach::kNoSize},
      {"bad_pointer", Breach::kBadPointer},
  };
  return breaches;
}

// The one stream of this process.
struct Stream {
  Breach breach = Breach::kNone;
  int frames = 0;
  int not_yet = 0;
  int packets = 0;
  std::string sentence;
  bool ended = false;
  int64_t first_pts = 0;
  int64_t last_pts = 0;
  // A frame that is given after later ones, and how many of these come first.
  std::optional<bulkhead_frame> held;
  int before_held = 0;
  // A gray picture of 4:2:0, which no packet has.
  std::array<uint8_t, size_t{320} * 240 * 3 / 2> gray{};
};
Stream stream;

constexpr bulkhead_device kDevice = {.size = sizeof(kDevice),
                                     .name = "breaker",
                                     .description = "knows no rules"};

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  stream = Stream();
  bulkhead_open_parameters passed = *parameters;
  for (size_t i = 0; i < parameters->option_count; ++i) {
    const auto breach = Breaches().find(parameters->options[i].value);
    if (breach == Breaches().end()) return BULKHEAD_UNSUPPORTED;
    stream.breach = breach->second;
  }
  passed.option_count = 0;
  if (stream.breach == Breach::kNoDecoder) return BULKHEAD_OK;
  if (stream.breach == Breach::kAgainFromOpen) return BULKHEAD_AGAIN;
  return Honest().open(&passed, runtime, decoder);
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  const bool begun = stream.frames >= kHonestFrames;
  if (begun && packet != nullptr) {
    if (stream.breach == Breach::kAgainFromBoth) return BULKHEAD_AGAIN;
    if (stream.breach == Breach::kEndFromSend) return BULKHEAD_END_OF_STREAM;
    if (stream.breach == Breach::kUnknownResult) {
      return static_cast<bulkhead_result>(99);
    }
  }
  if (packet == nullptr) stream.ended = true;
  if (stream.breach == Breach::kReject && packet != nullptr &&
      ++stream.packets > kHonestFrames) {
    stream.sentence = "packet " + std::to_string(stream.packets) +
                      " has \x1b[2Jno slices" + std::string(1000, '!');
    return BULKHEAD_BAD_INPUT;
  }
  return Honest().send_packet(decoder, packet);
}

void Spoil(bulkhead_frame* frame) {
  const bool begun = stream.frames > kHonestFrames;
  switch (stream.breach) {
    case Breach::kForeignTimes:
      if (begun) ++frame->pts;
      return;
    case Breach::kNoTimes:
      if (begun) frame->pts = BULKHEAD_NO_TIMESTAMP;
      return;
    case Breach::kTimeOfAnother:
      if (stream.frames == kHonestFrames) frame->pts = stream.last_pts;
      stream.last_pts = frame->pts;
      return;
    case Breach::kInvented:
      stream.last_pts = frame->pts;
      return;
    case Breach::kUpsideDown:
      frame->stride[0] = -frame->stride[0];
      return;
    case Breach::kOddFormat:
      frame->pixel_format = "acme12";
      return;
    case Breach::kEqualTimes:
      if (stream.frames == 1) stream.first_pts = frame->pts;
      frame->pts = stream.first_pts;
      return;
    case Breach::kBogusBuffer:
      frame->buffer = &stream;
      return;
    case Breach::kFewPlanes:
      frame->plane_count = 1;
      return;
    case Breach::kNarrowRows:
      frame->stride[0] = 1;
      return;
    case Breach::kNoFormat:
      frame->pixel_format = nullptr;
      return;
    case Breach::kNoSize:
      if (begun) frame->size = 0;
      return;
    case Breach::kBadPointer:
      if (!begun) return;
      frame->buffer = nullptr;
      frame->data[1] = reinterpret_cast<uint8_t*>(uintptr_t{1} << 20);
      return;
    default:
      return;
  }
}

void Invent(bulkhead_frame* frame) {
  uint8_t* gray = stream.gray.data();
  *frame = {.size = sizeof(*frame),
            .pixel_format = "yuv420p",
            .width = 320,
            .height = 240,
            .plane_count = 3,
            .data = {gray, gray + 320 * 240, gray + 320 * 240 * 5 / 4},
            .stride = {320, 160, 160},
            .pts = ++stream.last_pts,
            .private_data = &stream};
}

void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  if (frame->private_data != &stream) Honest().release_frame(decoder, frame);
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  const bool begun = stream.frames >= kHonestFrames;
  if (begun && stream.breach == Breach::kAgainFromBoth) return BULKHEAD_AGAIN;
  if (begun && stream.breach == Breach::kEndEarly) {
    return BULKHEAD_END_OF_STREAM;
  }
  if (begun && stream.breach == Breach::kDamageForEver) {
    return BULKHEAD_BAD_INPUT;
  }
  if (stream.ended && stream.breach == Breach::kAgainAtEnd) {
    return BULKHEAD_AGAIN;
  }
  if (stream.ended && stream.breach == Breach::kLate &&
      stream.not_yet++ % (kNotYet + 1) != kNotYet) {
    return BULKHEAD_AGAIN;
  }
  if (stream.held && stream.before_held == 0) {
    *frame = *std::exchange(stream.held, std::nullopt);
    return BULKHEAD_OK;
  }
  const bulkhead_result result = Honest().receive_frame(decoder, frame);
  if (result == BULKHEAD_END_OF_STREAM && stream.breach == Breach::kInvented) {
    Invent(frame);
    return BULKHEAD_OK;
  }
  if (result != BULKHEAD_OK) return result;
  ++stream.frames;
  const bool late =
      stream.breach == Breach::kSwapped || stream.breach == Breach::kMuchLater;
  if (late && stream.frames == kHonestFrames) {
    stream.held = *frame;
    stream.before_held = stream.breach == Breach::kSwapped ? 1 : 3;
    return ReceiveFrame(decoder, frame);
  }
  if (stream.held) --stream.before_held;
  if (stream.breach == Breach::kRejectLate && stream.frames == kHonestFrames) {
    stream.sentence = "a tile is torn";
    Honest().release_frame(decoder, frame);
    return BULKHEAD_BAD_INPUT;
  }
  const bool dropped =
      stream.breach == Breach::kNoFrame ||
      (stream.breach == Breach::kDrop && stream.frames % kDropped == 0);
  if (dropped) {
    Honest().release_frame(decoder, frame);
    return ReceiveFrame(decoder, frame);
  }
  Spoil(frame);
  return BULKHEAD_OK;
}

void Flush(bulkhead_decoder* decoder) {
  stream.ended = false;
  Honest().flush(decoder);
}

const char* LastError(bulkhead_decoder* decoder) {
  return stream.sentence.empty() ? Honest().last_error(decoder)
                                 : stream.sentence.c_str();
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_breaking_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "breaker";
  table.enumerate_devices = EnumerateOne<kDevice>;
  table.open = Open;
  table.send_packet = SendPacket;
  table.receive_frame = ReceiveFrame;
  table.release_frame = ReleaseFrame;
  table.flush = Flush;
  table.last_error = LastError;
  return &table;
}
