// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/testing/int80.h"

#include <sys/wait.h>
#include <unistd.h>

namespace bulkhead::sandbox {

bool MachineTakesInt80() {
  const pid_t child = fork();
  if (child == 0) {
    long result = 20;  // getpid of i386
    asm volatile("int $0x80"
                 : "+a"(result)
                 :
                 : "memory", "r8", "r9", "r10", "r11");
    _exit(result == getpid() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child &&
         WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace bulkhead::sandbox
