// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/record_hash.h"

#include <sha2.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/discovery/text.h"

namespace bulkhead::discovery {
namespace {

struct Algorithm {
  std::string_view name;
  size_t bytes;
  void (*begin)(SHA2_CTX*);
  void (*add)(SHA2_CTX*, const uint8_t*, size_t);
  void (*finish)(uint8_t*, SHA2_CTX*);
};

constexpr std::array<Algorithm, 3> kAlgorithms = {{
    {"sha256", SHA256_DIGEST_LENGTH, SHA256Init, SHA256Update, SHA256Final},
    {"sha384", SHA384_DIGEST_LENGTH, SHA384Init, SHA384Update, SHA384Final},
    {"sha512", SHA512_DIGEST_LENGTH, SHA512Init, SHA512Update, SHA512Final},
}};

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  if (c == '_') return 63;
  return -1;
}

// URL-safe base64; padding is not written but taken.
std::optional<std::vector<uint8_t>> Decode(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<uint8_t> bytes;
  uint32_t gathered = 0;
  int bits = 0;
  for (const char c : text) {
    const int value = Base64Value(c);
    if (value < 0) return std::nullopt;
    gathered = gathered << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<uint8_t>(gathered >> bits));
    }
  }
  return bytes;
}

}  // namespace

struct RecordHash::State {
  const Algorithm* algorithm;
  std::vector<uint8_t> expected;
  SHA2_CTX context;
};

RecordHash::RecordHash(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
RecordHash::RecordHash(RecordHash&&) noexcept = default;
RecordHash& RecordHash::operator=(RecordHash&&) noexcept = default;
RecordHash::~RecordHash() = default;

Result<RecordHash> RecordHash::Parse(std::string_view recorded_untrusted) {
  const size_t equals = recorded_untrusted.find('=');
  if (equals == std::string_view::npos) {
    return Status(Code::kInvalidArgument,
                  Quoted(recorded_untrusted) + " is not ALGORITHM=DIGEST");
  }
  const std::string_view name = recorded_untrusted.substr(0, equals);
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name != name) continue;
    auto expected = Decode(recorded_untrusted.substr(equals + 1));
    if (!expected || expected->size() != algorithm.bytes) {
      return Status(Code::kInvalidArgument, Quoted(recorded_untrusted) +
                                                " has no valid digest of " +
                                                std::string(name));
    }
    auto state = std::make_unique<State>();
    state->algorithm = &algorithm;
    state->expected = *std::move(expected);
    algorithm.begin(&state->context);
    return RecordHash(std::move(state));
  }
  return Status(Code::kUnsupported,
                "the algorithm " + Quoted(name) +
                    " does not count; use sha256, sha384 or sha512");
}

void RecordHash::Add(std::span<const std::byte> bytes) {
  state_->algorithm->add(&state_->context,
                         reinterpret_cast<const uint8_t*>(bytes.data()),
                         bytes.size());
}

bool RecordHash::Matches() {
  std::vector<uint8_t> digest(state_->algorithm->bytes);
  state_->algorithm->finish(digest.data(), &state_->context);
  return digest == state_->expected;
}

}  // namespace bulkhead::discovery
