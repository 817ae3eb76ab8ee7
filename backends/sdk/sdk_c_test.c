/* SPDX-License-Identifier: Apache-2.0 */

/* Shows that the ABI is plain C: a backend written in C compiles, links and can
 * be used. */

#include <stdio.h>
#include <string.h>

#include "backends/sdk/bulkhead_backend.h"

_Static_assert(sizeof(bulkhead_result) == 4, "results are four bytes wide");
_Static_assert(offsetof(bulkhead_backend, size) == 0, "size comes first");
_Static_assert(offsetof(bulkhead_codec_parameters, size) == 0, "so here");
_Static_assert(offsetof(bulkhead_frame, size) == 0, "and here");
_Static_assert(sizeof(bulkhead_rational) == 8, "two 32-bit integers");

static bulkhead_result enumerate_devices(const bulkhead_runtime* runtime,
                                         void (*emit)(void* emit_context,
                                                      const bulkhead_device*),
                                         void* emit_context) {
  const bulkhead_device device = {
      .size = sizeof(device), .name = "none", .description = "no device"};
  (void)runtime;
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

static bulkhead_result open_decoder(const bulkhead_open_parameters* parameters,
                                    const bulkhead_runtime* runtime,
                                    bulkhead_decoder** decoder) {
  (void)parameters;
  (void)runtime;
  *decoder = NULL;
  return BULKHEAD_UNSUPPORTED;
}

static const char* last_error(bulkhead_decoder* decoder) {
  (void)decoder;
  return "this backend decodes nothing";
}

static const bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .name = "none",
    .version = "1",
    .enumerate_devices = enumerate_devices,
    .open = open_decoder,
    .last_error = last_error,
};

static const bulkhead_backend* none_backend(void) { return &kBackend; }

static void count(void* emit_context, const bulkhead_device* device) {
  if (strcmp(device->name, "none") == 0) ++*(int*)emit_context;
}

int main(void) {
  const bulkhead_backend_entry entry = none_backend;
  const bulkhead_backend* backend = entry();
  bulkhead_decoder* decoder = NULL;
  int devices = 0;
  if (backend->enumerate_devices(NULL, count, &devices) != BULKHEAD_OK ||
      devices != 1) {
    fputs("the device was not enumerated\n", stderr);
    return 1;
  }
  if (backend->open(NULL, NULL, &decoder) != BULKHEAD_UNSUPPORTED) {
    fputs("open did not refuse\n", stderr);
    return 1;
  }
  return 0;
}
