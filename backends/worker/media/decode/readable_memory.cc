// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/readable_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace bulkhead::worker::decode {
namespace {

uintptr_t PageBytes() {
  static const auto bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

bool IsReadable(const void* data, size_t bytes) {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  uintptr_t end;
  if (__builtin_add_overflow(begin, bytes, &end)) return false;
  const uintptr_t first = begin / PageBytes() * PageBytes();
  return ::madvise(reinterpret_cast<void*>(first), end - first,
                   MADV_POPULATE_READ) == 0 ||
         (errno != ENOMEM && errno != EFAULT);
}

std::string ReadText(const char* text, size_t most) {
  std::string read;
  // Reads page by page, since the page after the NUL may be missing.
  while (text != nullptr && read.size() < most) {
    const char* from = text + read.size();
    const uintptr_t in_page = reinterpret_cast<uintptr_t>(from) % PageBytes();
    const size_t bytes =
        std::min<size_t>(PageBytes() - in_page, most - read.size());
    if (!IsReadable(from, bytes)) break;
    const size_t length = strnlen(from, bytes);
    read.append(from, length);
    if (length < bytes) break;
  }
  return read;
}

}  // namespace bulkhead::worker::decode
