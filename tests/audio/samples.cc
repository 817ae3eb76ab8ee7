// SPDX-License-Identifier: Apache-2.0
#include "tests/audio/samples.h"

#include <cstring>

namespace bulkhead::tests {

std::vector<float> Interleaved(const AudioSamples& samples) {
  std::vector<float> out;
  out.reserve(samples.data.size());
  for (size_t i = 0; i < samples.count(); ++i) {
    for (uint32_t c = 0; c < samples.channels; ++c) {
      out.push_back(samples.channel(c)[i]);
    }
  }
  return out;
}

bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  // The pointers of empty vectors may be null, which memcmp does not allow.
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool IsPart(const AudioSamples& part, const AudioSamples& whole, size_t from) {
  if (part.count() == 0) return true;
  if (part.channels != whole.channels || from > whole.count() ||
      part.count() > whole.count() - from) {
    return false;
  }
  for (uint32_t c = 0; c < whole.channels; ++c) {
    if (std::memcmp(part.channel(c).data(), whole.channel(c).data() + from,
                    part.count() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

std::vector<float> PartOf(const AudioSamples& whole, size_t from, size_t to) {
  const auto all = Interleaved(whole);
  return {all.begin() + static_cast<ptrdiff_t>(from * whole.channels),
          all.begin() + static_cast<ptrdiff_t>(to * whole.channels)};
}

}  // namespace bulkhead::tests
