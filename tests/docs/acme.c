/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The backend that the pages call "acme": what a vendor ships, with a bug. It
 * decodes with libavcodec through the example backend in C, and aborts when a
 * picture is 48 pixels wide, so that the pages about crashes have a crash.
 */

#include <stdlib.h>

#include "tests/vendors/c_vendor/c_vendor.h"

static bulkhead_backend table;

static bulkhead_result enumerate_devices(const bulkhead_runtime* runtime,
                                         void (*emit)(void* emit_context,
                                                      const bulkhead_device*),
                                         void* emit_context) {
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "acme",
                                  .description = "the pages' example"};
  (void)runtime;
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

static bulkhead_result receive_frame(bulkhead_decoder* decoder,
                                     bulkhead_frame* frame) {
  const bulkhead_result result =
      cvendor_backend()->receive_frame(decoder, frame);
  if (result == BULKHEAD_OK && frame->width == 48) abort();
  return result;
}

const bulkhead_backend* acme_backend(void) {
  table = *cvendor_backend();
  table.name = "acme";
  table.version = "1.0";
  table.enumerate_devices = enumerate_devices;
  table.receive_frame = receive_frame;
  return &table;
}
