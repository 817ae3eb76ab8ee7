/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/sdk/bulkhead_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the function table of the backend in C. The other vendors in
 * tests/vendors also decode with this table, like with a licensed library. */
const bulkhead_backend* cvendor_backend(void);

#ifdef __cplusplus
}
#endif
