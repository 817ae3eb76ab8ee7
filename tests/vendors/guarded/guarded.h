/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/sdk/bulkhead_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entry function: may be called any number of times, and gives the same
 * table each time. */
const bulkhead_backend* guarded_autoload(void);

/* How often that has done more than to look at its guard. */
int guarded_initializations(void);

#ifdef __cplusplus
}
#endif
