/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/sdk/bulkhead_backend.h"

/* Included first and alone, and twice. */
#include "backends/sdk/bulkhead_backend.h"

int main(void) { return BULKHEAD_OK; }
