/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/sdk/bulkhead_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of the backend in C. The other vendors here decode with it too, as
 * they would with a library that they license. */
const bulkhead_backend* cvendor_backend(void);

#ifdef __cplusplus
}
#endif
