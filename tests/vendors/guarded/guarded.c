/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A vendor whose entry function is a guard, as in autoloaded PyTorch
 * extensions: two entry points name it, and whoever comes second finds the
 * work done.
 */

#include "tests/vendors/guarded/guarded.h"

#include <stdbool.h>

#include "tests/vendors/c_vendor/c_vendor.h"

static bool is_loaded = false;
static int initializations = 0;
static bulkhead_backend table;

static bulkhead_result enumerate_devices(const bulkhead_runtime* runtime,
                                         void (*emit)(void* emit_context,
                                                      const bulkhead_device*),
                                         void* emit_context) {
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "guarded",
                                  .description = "loaded once, named twice"};
  (void)runtime;
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

const bulkhead_backend* guarded_autoload(void) {
  if (is_loaded) return &table;
  is_loaded = true;
  ++initializations;
  table = *cvendor_backend();
  table.name = "guarded";
  table.enumerate_devices = enumerate_devices;
  return &table;
}

int guarded_initializations(void) { return initializations; }
