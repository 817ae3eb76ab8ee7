// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/null_writer.h"

#include <cstring>

namespace bulkhead::writers {

Status NullWriter::Write(const Picture& picture) {
  return picture.ForEachRow([this](std::span<const std::byte> row) {
    for (; row.size() >= sizeof(uint64_t);
         row = row.subspan(sizeof(uint64_t))) {
      uint64_t word;
      std::memcpy(&word, row.data(), sizeof(word));
      sum_ += word;
    }
    for (std::byte byte : row) sum_ += static_cast<uint64_t>(byte);
    return Status();
  });
}

}  // namespace bulkhead::writers
