// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "backends/worker/zygote/zygote.h"

// bulkhead-worker is started by bulkhead-reaper inside the sandbox. It ends
// without running destructors of the vendor's libraries: a crash in one of them
// is nobody's loss any more.
int main() { ::_exit(bulkhead::worker::RunZygote()); }
