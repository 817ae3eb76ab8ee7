// SPDX-License-Identifier: Apache-2.0
//
// Plugins that start Bulkhead themselves, with the library linked into them.

#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "tests/support/refusing_backend.h"

namespace {

using bulkhead::sdk::Emit;
using bulkhead::sdk::Outcome;
using bulkhead::sdk::TableOf;

std::string StartBulkhead() {
  const auto host = bulkhead::Host::Create({});
  return host ? "there is a Host" : host.error().message();
}

template <const char* kNameOf>
struct Recursing : bulkhead::tests::RefusingBackend {
  static constexpr const char* kName = kNameOf;

  static Outcome EnumerateDevices(const bulkhead_runtime&, const Emit& emit) {
    emit({.name = kName, .description = "recursion"});
    return BULKHEAD_OK;
  }

  static Outcome Open(const bulkhead_open_parameters&, const bulkhead_runtime&,
                      std::unique_ptr<Decoder>*) {
    return {BULKHEAD_UNSUPPORTED, StartBulkhead()};
  }
};

constexpr char kServes[] = "recurses_and_serves";
constexpr char kInOpen[] = "recurses_in_open";

}  // namespace

extern "C" {

const bulkhead_backend* recurses() {
  StartBulkhead();
  return nullptr;
}

const bulkhead_backend* recurses_and_serves() {
  StartBulkhead();
  return TableOf<Recursing<kServes>>();
}

const bulkhead_backend* recurses_and_throws() { throw StartBulkhead(); }

const bulkhead_backend* recurses_in_open() {
  return TableOf<Recursing<kInOpen>>();
}
}
