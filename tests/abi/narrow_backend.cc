// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu`, on a device that decodes H.264 of the profiles Main and
// High up to 320x240, and says so.

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 240;

thread_local std::string open_error;

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const char* const formats[] = {"yuv420p"};
  bulkhead_capability capabilities[2];
  const int32_t profiles[] = {77, 100};
  for (int i = 0; i < 2; ++i) {
    capabilities[i] = {.size = sizeof(bulkhead_capability),
                       .stream_kind = BULKHEAD_STREAM_VIDEO,
                       .codec = "h264",
                       .profile = profiles[i],
                       .max_width = kWidth,
                       .max_height = kHeight,
                       .formats = formats,
                       .format_count = 1};
  }
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "narrow",
                                  .description = "decodes little",
                                  .capabilities = capabilities,
                                  .capability_count = 2,
                                  .max_sessions = 3,
                                  .outputs = BULKHEAD_OUTPUT_OWN_MEMORY};
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  const bulkhead_codec_parameters& codec = *parameters->codec;
  if (std::string(codec.codec) != "h264" || codec.width > kWidth ||
      codec.height > kHeight) {
    open_error = "only small H.264";
    return BULKHEAD_UNSUPPORTED;
  }
  open_error.clear();
  return Honest().open(parameters, runtime, decoder);
}

const char* LastError(bulkhead_decoder* decoder) {
  return decoder == nullptr && !open_error.empty()
             ? open_error.c_str()
             : Honest().last_error(decoder);
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_narrow_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "narrow";
  table.enumerate_devices = EnumerateDevices;
  table.open = Open;
  table.last_error = LastError;
  table.stream_kinds = BULKHEAD_DECODES_VIDEO;
  return &table;
}
