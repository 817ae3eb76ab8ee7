// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu`, which aborts if the runtime breaks a clause of
// bulkhead_backend.h, and which makes use of everything that the clauses allow:
// it asks for packets twice, gives its last frames late, and rejects a packet
// if the option `reject` says so.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kZeroes = 64;
constexpr int kRejected = 30;

// The one stream of this process.
struct Stream {
  pid_t thread = 0;
  bulkhead_runtime lent{};
  bool ended = false;
  bool reject = false;
  std::string codec;
  bool length_prefixed = false;
  int sends = 0;
  int packets = 0;
  int not_yet = 0;
  // Of the packet that is to come again, or that must not.
  std::string repeated;
  std::string dropped;
  std::set<void*> frames;
};
Stream stream;

void Require(bool kept, const char* clause, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "the runtime breaks %s: %s\n", clause, what);
  std::abort();
}

void OnTheThread() {
  Require(stream.thread == gettid(), "thread-1", "another thread");
}

std::string Contents(const bulkhead_packet& packet) {
  return std::to_string(packet.pts) + "/" + std::to_string(packet.position) +
         "/" +
         std::string(reinterpret_cast<const char*>(packet.data), packet.bytes);
}

void CheckFraming(const bulkhead_codec_parameters& codec) {
  const std::string name = codec.codec;
  stream.codec = name;
  const uint8_t* extra = codec.extradata;
  const size_t bytes = codec.extradata_bytes;
  stream.length_prefixed = name == "h264" && bytes > 0 && extra[0] == 1;
  if (name == "av1" && bytes > 0) {
    // A record of av1C, or OBUs that begin with a sequence header.
    Require(extra[0] == 0x81 || (extra[0] & 0xf8) == 0x08, "codec-3",
            "extradata of AV1");
  }
}

void CheckFraming(const bulkhead_packet& packet) {
  if (stream.length_prefixed) {
    size_t at = 0;
    while (at + 4 <= packet.bytes) {
      const uint8_t* unit = packet.data + at;
      at += 4 + (size_t{unit[0]} << 24 | size_t{unit[1]} << 16 |
                 size_t{unit[2]} << 8 | unit[3]);
    }
    Require(at == packet.bytes, "codec-3", "NAL units after their lengths");
  } else if (stream.codec == "h264") {
    const uint8_t* code = packet.data;
    const bool begins = packet.bytes > 4 && code[0] == 0 && code[1] == 0 &&
                        (code[2] == 1 || (code[2] == 0 && code[3] == 1));
    Require(begins, "codec-3", "NAL units of Annex B");
  } else if (stream.codec == "av1") {
    // An OBU header with the flag for a size.
    Require((packet.data[0] & 0x82) == 0x02, "codec-3", "OBUs with sizes");
  }
}

class Checked {
 public:
  static bulkhead_result Acquire(void* context,
                                 const bulkhead_buffer_request* request,
                                 bulkhead_buffer* buffer) {
    const bulkhead_result result =
        stream.lent.acquire_buffer(context, request, buffer);
    if (result == BULKHEAD_OK && buffer->plane_count >= 3) {
      Require(buffer->stride[1] == buffer->stride[2], "buffer-1",
              "strides of chroma differ");
    }
    return result;
  }
};

bulkhead_result EnumerateDevices(const bulkhead_runtime* runtime,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  Require(runtime->log != nullptr && runtime->acquire_buffer != nullptr &&
              runtime->release_buffer != nullptr &&
              runtime->reference_buffer != nullptr,
          "runtime-1", "a function is NULL");
  Require(runtime->abi_version == BULKHEAD_ABI_VERSION, "abi-4", "the version");
  const bulkhead_device device = {
      .size = sizeof(device), .name = "wary", .description = nullptr};
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  stream = Stream();
  stream.thread = gettid();
  stream.lent = *runtime;
  Require(runtime->abi_version == BULKHEAD_ABI_VERSION, "abi-4", "the version");
  for (size_t i = 0; i < parameters->option_count; ++i) {
    const bulkhead_option& option = parameters->options[i];
    if (std::strcmp(option.key, "reject") != 0) return BULKHEAD_UNSUPPORTED;
    Require(std::strcmp(option.value, "packet 30") == 0, "open-3", "a value");
    stream.reject = true;
  }
  CheckFraming(*parameters->codec);
  bulkhead_open_parameters passed = *parameters;
  passed.option_count = 0;
  static bulkhead_runtime checked;
  checked = *runtime;
  checked.acquire_buffer = Checked::Acquire;
  return Honest().open(&passed, &checked, decoder);
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  OnTheThread();
  const std::string contents =
      packet != nullptr ? Contents(*packet) : "the end";
  Require(stream.repeated.empty() || stream.repeated == contents, "again-1",
          "another packet came");
  Require(stream.dropped.empty() || stream.dropped != contents, "send-1",
          "a packet that was dropped came again");
  const bool again = stream.repeated.empty() && ++stream.sends % 3 == 0;
  stream.repeated = again ? contents : "";
  if (again) return BULKHEAD_AGAIN;
  stream.dropped.clear();
  if (packet != nullptr) {
    Require(!stream.ended, "send-4", "a packet after the end");
    for (size_t i = 0; i < kZeroes; ++i) {
      Require(packet->data[packet->bytes + i] == 0, "packet-2", "no zeroes");
    }
    CheckFraming(*packet);
    if (stream.reject && ++stream.packets == kRejected) {
      stream.dropped = contents;
      return BULKHEAD_BAD_INPUT;
    }
  }
  const bulkhead_result result = Honest().send_packet(decoder, packet);
  if (result == BULKHEAD_AGAIN) stream.repeated = contents;
  if (result == BULKHEAD_OK && packet == nullptr) stream.ended = true;
  return result;
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  OnTheThread();
  Require(frame->size == sizeof(*frame), "abi-2", "the size of a frame");
  if (stream.ended && ++stream.not_yet % 3 != 0) return BULKHEAD_AGAIN;
  const bulkhead_result result = Honest().receive_frame(decoder, frame);
  if (result == BULKHEAD_OK) stream.frames.insert(frame->private_data);
  return result;
}

void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  OnTheThread();
  Require(stream.frames.erase(frame->private_data) == 1, "release-1",
          "a frame that is not there");
  Honest().release_frame(decoder, frame);
}

void Flush(bulkhead_decoder* decoder) {
  OnTheThread();
  stream.ended = false;
  stream.repeated.clear();
  stream.dropped.clear();
  Honest().flush(decoder);
}

void Close(bulkhead_decoder* decoder) {
  OnTheThread();
  Require(stream.frames.empty(), "close-1", "a frame was not released");
  Honest().close(decoder);
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_wary_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "wary";
  table.enumerate_devices = EnumerateDevices;
  table.open = Open;
  table.send_packet = SendPacket;
  table.receive_frame = ReceiveFrame;
  table.release_frame = ReleaseFrame;
  table.flush = Flush;
  table.close = Close;
  return &table;
}
