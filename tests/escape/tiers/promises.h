// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::tests {

// A backend in the middle of a stream, and what came of every attempt of the
// escape table that it made.
struct Observed {
  int zygote = 0;
  int session = 0;
  std::map<std::string, std::string> while_loading;  // by the attempt's name
  std::map<std::string, std::string> with_media;
};

// A row of the README's table "In force". `found` returns "yes", "no", or what
// was found that is neither.
struct Promise {
  const char* text;
  std::string (*found)(const Observed&);
};
std::span<const Promise> Promises();

// A row of the README's table "Attempt": it is allowed if each of `attempts`
// had the outcome `success`, and stopped if none had.
struct Reach {
  const char* text;
  std::vector<std::string> attempts;
  const char* success = "allowed";
};
const std::vector<Reach>& Reaches();

}  // namespace bulkhead::tests
