/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The header of the ABI as it was before backends could name a range of
 * versions and declare capabilities. It never changes: backends that were built
 * with it must go on to work. */
#include "tests/abi/past_backend.h"

const bulkhead_backend* cvendor_backend(void);
