// SPDX-License-Identifier: Apache-2.0
#include "tests/access/edit_list.h"

#include <cstddef>

namespace bulkhead::tests {
namespace {

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(value >> shift));
  }
  return bytes;
}

uint32_t ValueAt(const std::string& file, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<uint8_t>(file[at + i]);
  }
  return value;
}

// Returns where the first box `type` between two offsets begins.
std::optional<size_t> FindBox(const std::string& file, size_t from, size_t end,
                              const char* type) {
  while (from + 8 <= end) {
    if (file.compare(from + 4, 4, type) == 0) return from;
    const uint32_t size = ValueAt(file, from);
    if (size < 8) break;
    from += size;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WithEditList(std::string file,
                                        const std::vector<EditedPart>& parts) {
  std::vector<size_t> boxes;
  size_t from = 0;
  size_t end = file.size();
  for (const char* type : {"moov", "trak", "edts", "elst"}) {
    const auto found = FindBox(file, from, end, type);
    if (!found) return std::nullopt;
    boxes.push_back(*found);
    from = *found + 8;
    end = *found + ValueAt(file, *found);
  }
  if (boxes[0] + ValueAt(file, boxes[0]) != file.size()) return std::nullopt;
  // Version and flags, the number of parts, and the parts with their rate.
  std::string list =
      BigEndian(0) + BigEndian(static_cast<uint32_t>(parts.size()));
  for (const EditedPart& part : parts) {
    list += BigEndian(part.duration) +
            BigEndian(static_cast<uint32_t>(part.from)) + BigEndian(1 << 16);
  }
  const uint32_t before = ValueAt(file, boxes.back()) - 8;
  file.replace(boxes.back() + 8, before, list);
  const uint32_t growth = static_cast<uint32_t>(list.size()) - before;
  for (const size_t box : boxes) {
    file.replace(box, 4, BigEndian(ValueAt(file, box) + growth));
  }
  return file;
}

}  // namespace bulkhead::tests
