// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with things that a vendor could get wrong. The file `wrong`
// beside the shared object names them; without the file nothing is wrong.

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr int kHonestFrames = 10;
constexpr size_t kLeaked = size_t{64} << 10;
constexpr size_t kLeakedLittle = 64;
constexpr size_t kLeakedPage = 4096;
constexpr unsigned kSleepSeconds = 8;
constexpr int kBuiltInWidth = 64;  // of Bulkhead's built-in clip
constexpr int kOwnWidth = 80;      // of the clip in own_clip.cc
constexpr int kWrongInOwnClip = 5;
constexpr int kLargest = 1024;
constexpr int kWidest = 1000;  // of what a careless backend opens

std::set<std::string> wrongs;  // set while the object is loaded
bool Is(const char* name) { return wrongs.contains(name); }
// The backend `careless` has several small things wrong, each against a clause
// of its own.
bool IsCareless() { return Is("careless"); }

// The one stream of this process.
struct Stream {
  int opens = 0;
  int frames = 0;
  int width = 0;  // as the stream says, not the picture
  bool threaded = false;
  bool later_life = false;
  // A frame that is given later, once so many others were given.
  std::optional<bulkhead_frame> held;
  int before_held = 0;
  // A picture of its own, in the place of the honest one.
  std::vector<uint8_t> picture;
  bool flushed = false;
  int ends = 0;  // that were sent
  bulkhead_runtime runtime{};
  std::minstd_rand chance{1};
};
Stream stream;

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  static const char* const formats[] = {"yuv420p", "yuv420p10le", "yuv444p"};
  static const char* const false_formats[] = {"nv12"};
  std::vector<bulkhead_capability> capabilities;
  for (const char* codec : {"h264", "mpeg4"}) {
    if (Is("declares_h264_alone") && std::strcmp(codec, "h264") != 0) continue;
    capabilities.push_back({.size = sizeof(bulkhead_capability),
                            .stream_kind = BULKHEAD_STREAM_VIDEO,
                            .codec = codec,
                            .profile = BULKHEAD_ALL_PROFILES,
                            .formats = formats,
                            .format_count = 3});
    bulkhead_capability& last = capabilities.back();
    if (Is("declares_other_formats")) {
      last.formats = false_formats;
      last.format_count = 1;
    }
    if (Is("declares_larger_pictures")) {
      last.max_width = last.max_height = 4 * kLargest;
    }
  }
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "wrong",
                                  .description = "has one thing wrong",
                                  .capabilities = capabilities.data(),
                                  .capability_count = capabilities.size()};
  emit(emit_context, &device);
  if (Is("unsteady_devices")) {
    // A number that no two processes are likely to share.
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    for (int64_t i = now.count() / 1'000 % 61; i > 0; --i) {
      emit(emit_context, &device);
    }
  }
  return BULKHEAD_OK;
}

// Asks again for a buffer for as long as it is refused, which is the fault: the
// pause keeps the processor free for the runtime, which has to notice it.
bulkhead_result AcquireForEver(void* context,
                               const bulkhead_buffer_request* request,
                               bulkhead_buffer* buffer) {
  const auto* inner = static_cast<bulkhead_runtime*>(context);
  for (;;) {
    const bulkhead_result result =
        inner->acquire_buffer(inner->context, request, buffer);
    if (result != BULKHEAD_OUT_OF_MEMORY) return result;
    usleep(1'000);
  }
}

// Takes a refusal for an end of memory, which ends the stream.
bulkhead_result AcquireOrEnd(void* context,
                             const bulkhead_buffer_request* request,
                             bulkhead_buffer* buffer) {
  const auto* inner = static_cast<bulkhead_runtime*>(context);
  const bulkhead_result result =
      inner->acquire_buffer(inner->context, request, buffer);
  return result == BULKHEAD_UNSUPPORTED ? BULKHEAD_OUT_OF_MEMORY : result;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  if (Is("declares_too_much") &&
      std::strcmp(parameters->codec->codec, "h264") != 0) {
    return BULKHEAD_UNSUPPORTED;
  }
  // Such as Bulkhead's built-in clip.
  if (Is("lies_and_fails_small_clips") &&
      parameters->codec->width <= kBuiltInWidth) {
    return BULKHEAD_BAD_INPUT;
  }
  stream.frames = 0;
  stream.width = parameters->codec->width;
  stream.ends = 0;
  stream.flushed = false;
  stream.held.reset();
  ++stream.opens;
  stream.threaded = parameters->threads > 1;
  stream.later_life = parameters->incarnation > 1;
  if (Is("leaks_memory") || Is("leaks_a_little")) {
    const size_t bytes = Is("leaks_memory") ? kLeaked : kLeakedLittle;
    // Kept, or the compiler would leave it out.
    static void* volatile leaked;
    leaked = std::malloc(bytes);
    std::memset(leaked, 1, bytes);
  }
  if (Is("leaks_mappings")) {
    void* const page = mmap(nullptr, kLeakedPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) std::memset(page, 1, kLeakedPage);
  }
  if (Is("leaks_threads")) {
    try {
      std::thread([] { std::promise<void>().get_future().wait(); }).detach();
    } catch (const std::exception&) {
      // No memory is left for a thread where the check starves the decoder,
      // which is not what this backend does wrong.
    }
  }
  bulkhead_open_parameters passed = *parameters;
  if (Is("takes_any_option")) passed.option_count = 0;
  if (Is("declares_larger_pictures") &&
      (parameters->codec->width > kLargest ||
       parameters->codec->height > kLargest)) {
    return BULKHEAD_UNSUPPORTED;
  }
  if (Is("declares_more_formats") &&
      std::strcmp(parameters->codec->pixel_format, "yuv420p10le") == 0) {
    return BULKHEAD_UNSUPPORTED;
  }
  if (IsCareless() && parameters->codec->width > kWidest) {
    return BULKHEAD_UNSUPPORTED;
  }
  stream.runtime = *runtime;
  if (Is("asks_for_buffers_for_ever") || Is("needs_buffers")) {
    stream.runtime.acquire_buffer =
        Is("needs_buffers") ? AcquireOrEnd : AcquireForEver;
    stream.runtime.context = const_cast<bulkhead_runtime*>(runtime);
    stream.runtime.reference_buffer = [](void* context, void* handle) {
      const auto* inner = static_cast<bulkhead_runtime*>(context);
      inner->reference_buffer(inner->context, handle);
    };
    stream.runtime.release_buffer = [](void* context, void* handle) {
      const auto* inner = static_cast<bulkhead_runtime*>(context);
      inner->release_buffer(inner->context, handle);
    };
  }
  return Honest().open(&passed, &stream.runtime, decoder);
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  const bool begun = stream.frames >= kHonestFrames;
  if (begun && packet != nullptr) {
    if (Is("exits")) _exit(0);
    if (Is("loses_the_device")) return BULKHEAD_DEVICE_LOST;
    if (Is("unknown_result")) return static_cast<bulkhead_result>(99);
  }
  if (packet == nullptr && ++stream.ends > 1 && Is("fails_at_a_second_end")) {
    return BULKHEAD_FAILED;
  }
  const bulkhead_result result = Honest().send_packet(decoder, packet);
  if (Is("crashes_on_damage") && result == BULKHEAD_BAD_INPUT) std::abort();
  return result;
}

// Puts a picture of 4:2:0 or 4:4:4 into memory of its own, where it may be
// changed.
uint8_t* Own(bulkhead_frame* frame) {
  const size_t luma = static_cast<size_t>(frame->stride[0]) * frame->height;
  const bool whole = std::strncmp(frame->pixel_format, "yuv444", 6) == 0;
  const int rows = whole ? frame->height : (frame->height + 1) / 2;
  const size_t chroma = static_cast<size_t>(frame->stride[1]) * rows;
  stream.picture.assign(luma + 2 * chroma, 0);
  uint8_t* at = stream.picture.data();
  for (int plane = 0; plane < 3; ++plane) {
    const size_t bytes = plane == 0 ? luma : chroma;
    frame->data[plane] =
        static_cast<uint8_t*>(std::memcpy(at, frame->data[plane], bytes));
    at += bytes;
  }
  frame->buffer = nullptr;
  return stream.picture.data();
}

void ClearTheLowestBit(bulkhead_frame* frame) {
  uint8_t* const luma = Own(frame);
  for (int y = 0; y < frame->height; ++y) {
    for (int x = 0; x < frame->width; ++x) {
      luma[ptrdiff_t{y} * frame->stride[0] + ptrdiff_t{2} * x] &= 0xfe;
    }
  }
}

void SpoilTheLastColumn(bulkhead_frame* frame) {
  uint8_t* const luma = Own(frame);
  for (int y = 0; y < frame->height; ++y) {
    luma[ptrdiff_t{y} * frame->stride[0] + frame->width - 1] ^= 0x40;
  }
}

// Returns whether this is one of the hundredth part of the frames that are
// wrong, after as many honest ones as any check of Bulkhead's looks at.
bool LiesNow() {
  const auto first = wrongs.lower_bound("lies_");
  return first != wrongs.end() && first->starts_with("lies_") &&
         stream.frames > kHonestFrames && stream.chance() % 100 == 0;
}

// Returns whether the picture is wrong in a clip of a health check.
bool LiesInClip() {
  return (Is("lies_in_the_built_in_clip") && stream.width == kBuiltInWidth) ||
         (Is("lies_in_its_own_clip") && stream.width == kOwnWidth &&
          stream.frames == kWrongInOwnClip + 1);
}

void Spoil(bulkhead_frame* frame) {
  const bool begun = stream.frames > kHonestFrames;
  if (Is("wrong_pts") && begun) frame->pts += 1;
  if (Is("no_pts") && begun) frame->pts = BULKHEAD_NO_TIMESTAMP;
  if (Is("swapped_planes")) std::swap(frame->data[1], frame->data[2]);
  if (Is("narrow_rows") && begun) frame->stride[0] = 16;
  if (Is("few_planes") && begun) frame->plane_count = 1;
  if (Is("no_format") && begun) frame->pixel_format = nullptr;
  if (Is("no_size") && begun) frame->size = 0;
  if (Is("wrong_aspect_ratio")) frame->sample_aspect_ratio = {2, 1};
  if (Is("wrong_duration")) ++frame->duration;
  if (Is("wrong_chroma_location")) frame->chroma_location = 2;
  if (Is("wrong_color_space")) frame->color_space = 1;
  if (Is("wrong_color_range")) frame->color_range = 2;
  if (Is("wrong_color_transfer")) frame->color_transfer = 6;
  if (Is("wrong_interlaced")) frame->interlaced = !frame->interlaced;
  if (Is("hides_damage")) frame->damaged = frame->met_error = 0;
  if (Is("hides_errors")) frame->met_error = 0;
  if (Is("overwrites_frames") &&
      std::strncmp(frame->pixel_format, "yuv420p", 7) == 0) {
    Own(frame);
  }
  if (Is("clears_the_lowest_bit") &&
      std::strcmp(frame->pixel_format, "yuv420p10le") == 0) {
    ClearTheLowestBit(frame);
  }
  if (Is("wrong_last_column") && frame->width % 2 != 0) {
    SpoilTheLastColumn(frame);
  }
  const bool another = (Is("wrong_picture") && stream.frames == 20) ||
                       (Is("differs_with_threads") && stream.threaded) ||
                       (Is("differs_after_a_crash") && stream.later_life) ||
                       (Is("differs_when_opened_again") && stream.opens > 1);
  if (another) Own(frame)[100] ^= Is("wrong_picture") ? 1 : 0x80;
  if (LiesInClip()) Own(frame)[0] ^= 0x80;
  if (LiesNow()) {
    uint8_t* const pixels = Own(frame);
    pixels[stream.chance() % stream.picture.size()] ^= 0x80;
  }
}

// Acquires a buffer that is never given back.
void KeepABuffer(const bulkhead_frame& frame) {
  const bulkhead_buffer_request request = {.size = sizeof(request),
                                           .pixel_format = frame.pixel_format,
                                           .width = frame.width,
                                           .height = frame.height,
                                           .alignment = 64};
  bulkhead_buffer buffer{};
  buffer.size = sizeof(buffer);
  (void)stream.runtime.acquire_buffer(stream.runtime.context, &request,
                                      &buffer);
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  const bool begun = stream.frames >= kHonestFrames;
  if (begun && Is("never_ready")) return BULKHEAD_AGAIN;
  if (begun && Is("ends_early")) return BULKHEAD_END_OF_STREAM;
  if (begun && Is("sleeps")) sleep(kSleepSeconds);
  if (Is("is_late_after_flush") && std::exchange(stream.flushed, false)) {
    sleep(kSleepSeconds);
  }
  if (begun && Is("crashes")) std::abort();
  if (begun && Is("starts_a_program")) execl("/bin/true", "true", nullptr);
  if (stream.held && stream.before_held == 0 && !Is("forgets_the_last")) {
    *frame = *std::exchange(stream.held, std::nullopt);
    return BULKHEAD_OK;
  }
  const bulkhead_result result = Honest().receive_frame(decoder, frame);
  if (Is("forgets_the_last")) {
    // Gives each frame when the next one is there.
    if (result == BULKHEAD_END_OF_STREAM && stream.held) {
      bulkhead_frame last = *std::exchange(stream.held, std::nullopt);
      Honest().release_frame(decoder, &last);
    }
    if (result != BULKHEAD_OK) return result;
    if (!stream.held) {
      stream.held = *frame;
      return ReceiveFrame(decoder, frame);
    }
    std::swap(*stream.held, *frame);
  }
  if (result == BULKHEAD_AGAIN && Is("fills_too_early")) frame->width = 1;
  if (result != BULKHEAD_OK) return result;
  ++stream.frames;
  if (IsCareless()) KeepABuffer(*frame);
  if ((Is("reorders") || Is("exchanges_times")) &&
      stream.frames == kHonestFrames) {
    stream.held = *frame;
    stream.before_held = 1;
    return ReceiveFrame(decoder, frame);
  }
  if (stream.held) stream.before_held = 0;
  if (stream.held && Is("exchanges_times")) {
    std::swap(stream.held->pts, frame->pts);
  }
  Spoil(frame);
  return BULKHEAD_OK;
}

void Flush(bulkhead_decoder* decoder) {
  if (Is("ignores_flush")) return;
  stream.ends = 0;
  stream.flushed = true;
  stream.held.reset();
  Honest().flush(decoder);
}

void Close(bulkhead_decoder* decoder) {
  Honest().close(decoder);
  if (Is("crashes_in_close")) std::abort();
}

const char* LastError(bulkhead_decoder* decoder) {
  if (IsCareless() && decoder != nullptr) return "";
  return Is("says_nothing") ? nullptr : Honest().last_error(decoder);
}

std::set<std::string> ReadWrongs() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&ReadWrongs), &info) == 0) return {};
  const std::string library = info.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "wrong");
  return {std::istream_iterator<std::string>(file), {}};
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_wrong_backend(void) {
  using namespace bulkhead::tests;
  wrongs = ReadWrongs();
  if (Is("no_table")) return nullptr;
  if (Is("starts_a_thread")) {
    std::thread([] { std::promise<void>().get_future().wait(); }).detach();
  }
  static bulkhead_backend table = Honest();
  table.name = "wrong";
  table.enumerate_devices = EnumerateDevices;
  table.open = Open;
  table.send_packet = SendPacket;
  table.receive_frame = ReceiveFrame;
  table.flush = Flush;
  table.close = Close;
  table.last_error = LastError;
  table.stream_kinds = BULKHEAD_DECODES_VIDEO;
  return &table;
}
