// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead::session {

// Identities by which the bytes of a source are recognised: equal for the same
// state of the same bytes. The three kinds are never equal to one another.

// Returns the identity of a file in its present state.
std::string IdentityOf(const struct stat& file);
// Returns the identity of bytes that the application's reader has, which
// vouches for the name.
std::string IdentityOf(const std::string& name, int64_t bytes);
// Returns the identity of bytes in memory: a hash of their content. Hashing
// more than 1 MiB would take too long: their identity, and that of no bytes at
// all, is a new one each time.
std::string IdentityOf(std::span<const std::byte> content);

}  // namespace bulkhead::session
