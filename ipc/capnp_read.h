// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/exception.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "ipc/error.h"

namespace bulkhead::ipc {

// Cap'n Proto checks a message lazily, at each getter, and throws
// kj::Exception where it is malformed. ReadCatching is the one place where
// that becomes a value: whatever touches a message of a peer runs inside it.
//
//   auto chunk = ReadCatching([&] {
//     return message.root<schema::Reply>().getIndexChunk().getEntries();
//   });
//
// Returns Expected<T> for a callable that returns T or Expected<T>; a
// malformed message is kBackendMisbehaved. Readers that leave the callable
// (lists, structs) are checked no further than they were read inside it. It
// says nothing about values: a well-formed message may still lie in each field,
// and an enum may hold a number that has no name.

namespace internal {
template <typename T>
struct ExpectedOf {
  using Type = Expected<T>;
};
template <typename T>
struct ExpectedOf<Expected<T>> {
  using Type = Expected<T>;
};
}  // namespace internal

template <typename Read>
auto ReadCatching(Read&& read) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Read>>;
  using Result = typename internal::ExpectedOf<Value>::Type;
  try {
    if constexpr (std::is_void_v<Value>) {
      std::forward<Read>(read)();
      return Result();
    } else {
      return Result(std::forward<Read>(read)());
    }
  } catch (const kj::Exception& exception) {
    return Result(Fail(Code::kBackendMisbehaved,
                       std::string("the peer sent a malformed message: ") +
                           exception.getDescription().cStr()));
  }
}

// Limits for reading a message of `words` words. A hostile message may point
// at one part many times over and so be larger to traverse than to send: by no
// more than this. 8 leaves honest readers room to visit each field repeatedly;
// no schema of ours nests deeper than 16.
inline capnp::ReaderOptions BoundedReaderOptions(size_t words) {
  return {.traversalLimitInWords = 8 * words + 64, .nestingLimit = 16};
}

}  // namespace bulkhead::ipc
