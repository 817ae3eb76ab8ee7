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

// This header is for reading messages from a peer, which may be hostile. Cap'n
// Proto checks a message lazily: a getter throws kj::Exception when it meets a
// malformed part. ReadCatching turns that exception into an Error. All code
// that touches a message from a peer runs inside a ReadCatching call:
//
//   auto chunk = ReadCatching([&] {
//     return message.root<schema::Reply>().getIndexChunk().getEntries();
//   });
//
// ReadCatching returns Expected<T> for a callable that returns T or
// Expected<T>, and kBackendMisbehaved for a malformed message. If the callable
// returns a list or struct reader, only the parts that the callable has read
// are checked. ReadCatching does not validate values: every field of a
// well-formed message may be a lie, and an enum may hold a number that has no
// name.

namespace internal {
// Maps T and Expected<T> to Expected<T>.
template <typename T>
struct ExpectedOf {
  using Type = Expected<T>;
};
template <typename T>
struct ExpectedOf<Expected<T>> {
  using Type = Expected<T>;
};
// Returns Cap'n Proto's description of a malformed message. The description
// quotes bytes of the message, so each character that is not printable ASCII
// becomes "?".
inline std::string DescriptionOf(const kj::Exception& exception) {
  std::string text = exception.getDescription().cStr();
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}
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
    return Result(
        Fail(Code::kBackendMisbehaved, "the peer sent a malformed message: " +
                                           internal::DescriptionOf(exception)));
  }
}

// Returns the limits for reading a message of `words` words. A hostile message
// may point to one part many times, so that traversing the message costs more
// than sending it. The traversal limit bounds that amplification to a factor of
// 8, which lets honest readers visit each field repeatedly. None of Bulkhead's
// schemas nests deeper than 16.
inline capnp::ReaderOptions BoundedReaderOptions(size_t words) {
  return {.traversalLimitInWords = 8 * words + 64, .nestingLimit = 16};
}

}  // namespace bulkhead::ipc
