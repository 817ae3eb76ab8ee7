// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead::worker_link {

// Identities by which the bytes of a source are recognised: equal for the same
// state of the same bytes. The three kinds are never equal to one another.

// Returns the identity of a file in its present state.
std::string IdentityOf(const struct stat& file);
// Returns the identity of bytes that a reader of the application has. The
// application vouches that the name always means the same bytes.
std::string IdentityOf(const std::string& name, int64_t bytes);
// Returns the identity of bytes in memory: a hash of their content. Content of
// more than 1 MiB would take too long to hash. Such content, and empty content,
// gets a new identity each time.
std::string IdentityOf(std::span<const std::byte> content);

}  // namespace bulkhead::worker_link
