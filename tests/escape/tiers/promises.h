// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::tests {

// A backend in the middle of a stream, and the outcome of every attempt of the
// escape table that the backend made.
struct Observed {
  int zygote = 0;
  int session = 0;
  std::map<std::string, std::string> while_loading;  // by attempt name
  std::map<std::string, std::string> with_media;
};

// A row of the README's table "In force". `found` returns "yes", "no", or a
// description of a state that is neither.
struct Promise {
  const char* text;
  std::string (*found)(const Observed&);
};
std::span<const Promise> Promises();

// A row of the README's table "Attempt". The row says "allowed" if each of
// `attempts` had the outcome `success`, and "stopped" if none had.
struct Reach {
  const char* text;
  std::vector<std::string> attempts;
  const char* success = "allowed";
};
const std::vector<Reach>& Reaches();

}  // namespace bulkhead::tests
