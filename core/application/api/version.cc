// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/version.h"

namespace bulkhead {

const char* LibraryVersion() { return BULKHEAD_VERSION; }

}  // namespace bulkhead
