// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the index that an application brings along: the reader of ffprobe's
// list of frames and the index made of it. The input is the list.

#include <string_view>

#include "core/application/frames/given_index.h"
#include "core/include/bulkhead/frame_mapping.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/printable_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxFrames = 100;
  const auto mappings =
      bulkhead::ParseFrameMappings({reinterpret_cast<const char*>(data), size});
  if (!mappings) {
    FUZZ_CHECK(mappings.error().code() == bulkhead::Code::kInvalidArgument);
    CheckPrintable(mappings.error().message(), 512);
    return 0;
  }
  FUZZ_CHECK(!mappings->empty());
  const auto index = bulkhead::frames::IndexOf(*mappings, kMaxFrames);
  if (!index) return 0;
  FUZZ_CHECK(index->size() == mappings->size() && index->size() <= kMaxFrames);
  FUZZ_CHECK(index->timestamped());
  for (size_t i = 0; i < index->size(); ++i) {
    FUZZ_CHECK(i == 0 || (*index)[i - 1].pts < (*index)[i].pts);
    FUZZ_CHECK(index->Find((*index)[i].pts) == i);
    FUZZ_CHECK(index->EntryOf(i).value_or(0) <= i);
  }
  return 0;
}
