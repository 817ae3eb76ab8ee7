// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/arguments.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>

// The bounds of this program's code and data, as the linker defines them.
extern "C" char __executable_start;
extern "C" char etext;
extern "C" char data_start;
extern "C" char edata;

namespace bulkhead::worker::zygote {
namespace {

uint64_t AddressOf(const void* object) {
  return reinterpret_cast<uint64_t>(object);
}

}  // namespace

ipc::Expected<void> HideArguments() {
  const uint64_t stack = AddressOf(environ);
  const uint64_t heap = AddressOf(sbrk(0));
  // The kernel takes all values at once. Only the empty ranges of the
  // arguments and the environment matter here. brk() uses the start of the
  // heap; all other values are only shown to debuggers.
  prctl_mm_map map = {};
  map.start_code = AddressOf(&__executable_start);
  map.end_code = AddressOf(&etext);
  map.start_data = AddressOf(&data_start);
  map.end_data = AddressOf(&edata);
  map.start_brk = heap;
  map.brk = heap;
  map.start_stack = stack;
  map.arg_start = stack;
  map.arg_end = stack;
  map.env_start = stack;
  map.env_end = stack;
  map.exe_fd = static_cast<uint32_t>(-1);
  if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) != 0) {
    return ipc::FailErrno(
        ipc::Code::kUnsupported,
        "this kernel does not hide the arguments of a process "
        "(CONFIG_CHECKPOINT_RESTORE)",
        errno);
  }
  return {};
}

}  // namespace bulkhead::worker::zygote
