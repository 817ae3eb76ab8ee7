/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/sdk/bulkhead_backend.h"

/* Includes the header first, alone and twice. */
#include "backends/sdk/bulkhead_backend.h"

int main(void) { return BULKHEAD_OK; }
