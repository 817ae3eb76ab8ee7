// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with the faults of a script (fault.h). The script is the
// file `faults` beside the shared object, which is read while the object is
// loaded. A stream's option `faults` takes precedence. Without a script, the
// backend is honest.
//
// The table is written by hand. The glue of bulkhead_backend.hpp would prevent
// faults: it catches exceptions at every step and fails an open without a
// decoder.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/bulkhead_backend.h"
#include "tests/chaos/fault.h"
#include "tests/chaos/harm.h"

namespace bulkhead::tests {
namespace {

constexpr int kManyDevices = 100;

// The state of this process. A worker starts with a copy of the zygote's state.
struct Process {
  std::vector<Fault> faults;     // of its file
  std::vector<Fault> of_stream;  // of the stream's option
  pid_t zygote = 0;
  Life life;
  uint64_t counts[8] = {};  // of each Step
  std::string error;
  const bulkhead_runtime* runtime = nullptr;
};
Process process;

struct Stream {
  bulkhead_decoder* decoder = nullptr;
  // The picture to return once more. It shares the planes of the last picture.
  bool again = false;
  bulkhead_frame last = {};
};

const bulkhead_backend& Honest() { return *bulkhead_cpu_backend(); }

Stream* Self(bulkhead_decoder* decoder) {
  return reinterpret_cast<Stream*>(decoder);
}

// Returns the fault of this step, after carrying out a deed to the process.
const Fault* Pass(Step step, std::optional<int64_t> number = std::nullopt) {
  const uint64_t count = process.counts[static_cast<size_t>(step)]++;
  const int64_t at = number.value_or(static_cast<int64_t>(count));
  const Fault* fault =
      FindFault(process.of_stream, process.life, step, count, at);
  if (fault == nullptr) {
    fault = FindFault(process.faults, process.life, step, count, at);
  }
  if (fault != nullptr) Harm(*fault);
  return fault;
}

// The clones of a zygote share no memory in which they could be counted. In
// tier full their pids follow the zygote's, and the first is the probe's.
// The threads of a worker take pids as well.
uint64_t WorkerNumber() {
  return static_cast<uint64_t>(getpid() - process.zygote - 1);
}

bool IsAnError(const Fault* fault) {
  return fault != nullptr && (fault->deed == Deed::kError ||
                              (fault->deed == Deed::kNeed && !GetsThreads()));
}

bulkhead_result Fail(const Fault& fault) {
  process.error = "as its script says";
  return static_cast<bulkhead_result>(fault.argument);
}

// Exported, so that a backtrace names it.
extern "C" bulkhead_result chaos_enumerate_devices(
    const bulkhead_runtime*, void (*emit)(void*, const bulkhead_device*),
    void* emit_context) {
  bulkhead_device device = {
      .size = sizeof(device), .name = "chaos", .description = "accidents"};
  int count = 1;
  const Fault* fault = Pass(Step::kProbe);
  if (IsAnError(fault)) return Fail(*fault);
  if (fault != nullptr) {
    if (fault->deed == Deed::kNone) count = 0;
    if (fault->deed == Deed::kMany) count = kManyDevices;
    if (fault->deed == Deed::kStranger) device.name = "cpu";
    if (fault->deed == Deed::kNameless) device.name = nullptr;
    if (fault->deed == Deed::kNull) emit(emit_context, nullptr);
  }
  while (count-- > 0) emit(emit_context, &device);
  return BULKHEAD_OK;
}

// Removes the options of the chaos backend and returns those for the decoder.
// Returns nullopt if the stream's script is invalid.
std::optional<std::vector<bulkhead_option>> TakeOptions(
    const bulkhead_open_parameters& parameters) {
  std::vector<bulkhead_option> others;
  for (size_t i = 0; i < parameters.option_count; ++i) {
    const bulkhead_option& option = parameters.options[i];
    if (std::strcmp(option.key, "faults") != 0) {
      others.push_back(option);
      continue;
    }
    auto faults = ParseFaults(option.value);
    if (!faults) {
      process.error = faults.error();
      return std::nullopt;
    }
    process.of_stream = *std::move(faults);
  }
  return others;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  process.runtime = runtime;
  // A stream that starts again is opened again in the same process.
  if (process.life.of_stream == 0) {
    process.life = {parameters->incarnation, WorkerNumber()};
  }
  const auto others = TakeOptions(*parameters);
  if (!others) return BULKHEAD_UNSUPPORTED;
  const Fault* fault = Pass(Step::kOpen);
  if (IsAnError(fault)) return Fail(*fault);
  *decoder = nullptr;
  if (fault != nullptr && fault->deed == Deed::kNull) return BULKHEAD_OK;
  bulkhead_open_parameters passed = *parameters;
  passed.options = others->data();
  passed.option_count = others->size();
  auto* stream = new (std::nothrow) Stream;
  if (stream == nullptr) return BULKHEAD_OUT_OF_MEMORY;
  const bulkhead_result result =
      Honest().open(&passed, runtime, &stream->decoder);
  if (result != BULKHEAD_OK) {
    process.error = Honest().last_error(nullptr);
    delete stream;
    return result;
  }
  *decoder = reinterpret_cast<bulkhead_decoder*>(stream);
  return BULKHEAD_OK;
}

// Writes the first bytes of a packet where a vendor writes its log.
void Say(const bulkhead_packet& packet) {
  std::string line = "chaos got ";
  for (size_t i = 0; i < std::min<size_t>(packet.bytes, 16); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    line += kDigits[packet.data[i] >> 4];
    line += kDigits[packet.data[i] & 15];
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  const Fault* fault = Pass(packet == nullptr ? Step::kEnd : Step::kPacket);
  if (IsAnError(fault)) return Fail(*fault);
  if (packet != nullptr && fault != nullptr && fault->deed == Deed::kSay) {
    Say(*packet);
  }
  return Honest().send_packet(Self(decoder)->decoder, packet);
}

void Spoil(const Fault& fault, bulkhead_frame* frame) {
  switch (fault.deed) {
    case Deed::kNull:
      for (uint8_t*& plane : frame->data) plane = nullptr;
      return;
    case Deed::kPts:
      frame->pts = fault.argument;
      return;
    case Deed::kNoPts:
      frame->pts = BULKHEAD_NO_TIMESTAMP;
      return;
    case Deed::kNoFormat:
      frame->pixel_format = nullptr;
      return;
    case Deed::kUnknownFormat:
      frame->pixel_format = "a format that nobody made";
      return;
    case Deed::kEmpty:
      frame->width = 0;
      frame->height = -1;
      return;
    case Deed::kHuge:
      frame->width = INT32_MAX;
      frame->height = INT32_MAX;
      return;
    case Deed::kOther:
      frame->width /= 2;
      frame->height /= 2;
      return;
    case Deed::kNarrow:
      for (int32_t& stride : frame->stride) stride = 1;
      return;
    case Deed::kFlip:
      *(frame->planes != nullptr ? const_cast<uint8_t*>(frame->planes[0])
                                 : frame->data[0] + frame->stride[0]) ^= 0x40;
      return;
    case Deed::kStray: {
      const bulkhead_runtime& runtime = *process.runtime;
      for (void* handle : {static_cast<void*>(&process), frame->buffer}) {
        for (int i = 0; i < 3; ++i) {
          runtime.release_buffer(runtime.context, handle);
        }
      }
      return;
    }
    default:
      return;
  }
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  Stream& stream = *Self(decoder);
  if (stream.again) {
    stream.again = false;
    *frame = stream.last;
    return BULKHEAD_OK;
  }
  const bulkhead_result result = Honest().receive_frame(stream.decoder, frame);
  if (result != BULKHEAD_OK) return result;
  const Fault* fault = Pass(Step::kPicture, frame->pts);
  if (fault == nullptr) return result;
  if (IsAnError(fault)) {
    Honest().release_frame(stream.decoder, frame);
    return Fail(*fault);
  }
  if (fault->deed == Deed::kTwice) {
    // The host releases the original picture; the copy has nothing to release.
    stream.again = true;
    stream.last = *frame;
    stream.last.private_data = nullptr;
    stream.last.buffer = nullptr;
  }
  Spoil(*fault, frame);
  return result;
}

void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  Honest().release_frame(Self(decoder)->decoder, frame);
}

void Flush(bulkhead_decoder* decoder) {
  Pass(Step::kFlush);
  Honest().flush(Self(decoder)->decoder);
}

void Close(bulkhead_decoder* decoder) {
  Pass(Step::kClose);
  Honest().close(Self(decoder)->decoder);
  delete Self(decoder);
}

const char* LastError(bulkhead_decoder* decoder) {
  if (decoder == nullptr || !process.error.empty()) {
    return process.error.c_str();
  }
  return Honest().last_error(Self(decoder)->decoder);
}

std::string ReadScript() {
  Dl_info self;
  if (dladdr(&process, &self) == 0) return "";
  const std::string library = self.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "faults");
  return {std::istreambuf_iterator<char>(file), {}};
}

const bulkhead_backend* Load() {
  static const bulkhead_backend table = {
      .size = sizeof(bulkhead_backend),
      .abi_version = BULKHEAD_ABI_VERSION,
      .name = "chaos",
      .version = "0.1.0",
      .enumerate_devices = chaos_enumerate_devices,
      .open = Open,
      .send_packet = SendPacket,
      .receive_frame = ReceiveFrame,
      .release_frame = ReleaseFrame,
      .flush = Flush,
      .close = Close,
      .last_error = LastError,
      .stream_kinds = BULKHEAD_DECODES_VIDEO | BULKHEAD_DECODES_AUDIO};
  auto faults = ParseFaults(ReadScript());
  if (!faults) return nullptr;
  process.faults = *std::move(faults);
  process.zygote = getpid();
  const Fault* fault = Pass(Step::kLoad);
  if (IsAnError(fault) || (fault != nullptr && fault->deed == Deed::kNull)) {
    return nullptr;
  }
  return &table;
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_chaos_backend(void) {
  return bulkhead::tests::Load();
}
