// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "backends/worker/zygote/zygote.h"

// bulkhead-reaper starts bulkhead-worker inside the sandbox. The process ends
// without running destructors of the vendor's libraries, since a crash in one
// of them would be reported as a crash of a session that has ended well.
int main() { ::_exit(bulkhead::worker::zygote::RunZygote()); }
