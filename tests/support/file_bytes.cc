// SPDX-License-Identifier: Apache-2.0
#include "tests/support/file_bytes.h"

#include <fstream>
#include <iterator>

namespace bulkhead::tests {

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace bulkhead::tests
