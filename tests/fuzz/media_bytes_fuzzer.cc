// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the worker's own readers of the bytes of media files. The first byte
// of the input selects the container, the next two are not used; the rest is
// the file.

#include <cstdint>
#include <string>

#include "backends/worker/media/demux/declared_length.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/media/testing/memory_bytes.h"
#include "tests/fuzz/check.h"

namespace {

using namespace bulkhead::worker;
using namespace bulkhead::worker::demux;

const char* ContainerOf(uint8_t selector) {
  switch (selector) {
    case 'a':
      return "avi";
    case 'd':
      return "wav";
    default:
      return "matroska,webm";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  MemoryBytes file(
      std::string(reinterpret_cast<const char*>(data) + 3, size - 3));
  const DeclaredLength length =
      ReadDeclaredLength(ContainerOf(data[0]), MediaBytes(file), file.size());
  FUZZ_CHECK(length.bytes >= 0);
  FUZZ_CHECK(length.sample_bytes >= 0 && length.sample_bytes <= length.bytes);
  return 0;
}
