/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/sdk/bulkhead_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entry function. May be called any number of times and returns the same
 * table each time. */
const bulkhead_backend* guarded_autoload(void);

/* Returns how often the entry function has run its initialization, instead of
 * returning early because of its guard. */
int guarded_initializations(void);

#ifdef __cplusplus
}
#endif
