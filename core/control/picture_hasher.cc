// SPDX-License-Identifier: Apache-2.0
#include "core/control/picture_hasher.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

namespace bulkhead {
namespace {

using Wide = unsigned __int128;

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t Reduce(Wide value) {
  const uint64_t sum = static_cast<uint64_t>(value & kPrime) +
                       static_cast<uint64_t>(value >> 61);
  return (sum & kPrime) + (sum >> 61);
}

// Sets `hash` to the next value of a polynomial modulo kPrime (Horner's rule).
void Append(uint64_t& hash, uint64_t point, uint64_t coefficient) {
  hash = Reduce(Wide{hash} * point + coefficient);
}

// Returns the next of many keys that are made from one (Splitmix64).
uint64_t NextKey(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

PictureHasher::PictureHasher(uint64_t key) {
  for (uint64_t& word : block_key_) word = NextKey(key);
  point_ = NextKey(key) & (kPrime >> 1);
}

PictureHasher PictureHasher::WithRandomKey() {
  uint64_t key = 0;
  // Waits only while the kernel, early in its life, has no random numbers.
  // getrandom() returns all bytes if so few are asked for.
  while (::getrandom(&key, sizeof key, 0) != sizeof key) {
  }
  return PictureHasher(key);
}

uint64_t PictureHasher::operator()(const std::byte* pixels, uint32_t width,
                                   uint32_t height, size_t row_bytes,
                                   size_t stride) const {
  uint64_t hash = 1;
  Append(hash, point_, width);
  Append(hash, point_, height);
  Append(hash, point_, row_bytes);
  for (uint32_t y = 0; y < height; ++y) {
    const std::byte* const row = pixels + y * stride;
    for (size_t begin = 0; begin < row_bytes; begin += kBlockBytes) {
      // The hash of a block is NH, a sum of products of keyed words. Zeros may
      // fill the last words of a row, since the size of a row is part of the
      // hash.
      Wide sum = 0;
      const size_t bytes = std::min(kBlockBytes, row_bytes - begin);
      for (size_t i = 0; i < bytes; i += 2 * sizeof(uint64_t)) {
        uint64_t words[2] = {0, 0};
        std::memcpy(words, row + begin + i, std::min(sizeof words, bytes - i));
        const size_t k = i / sizeof(uint64_t);
        sum += Wide{words[0] + block_key_[k]} * (words[1] + block_key_[k + 1]);
      }
      Append(hash, point_, static_cast<uint64_t>(sum));
      Append(hash, point_, static_cast<uint64_t>(sum >> 64));
    }
  }
  return hash;
}

}  // namespace bulkhead
