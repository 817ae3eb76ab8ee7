// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead::worker_link {

// The identity of a source is a text by which Bulkhead recognises the same
// bytes again, for example an input that has killed workers. Sources with equal
// identities have the same bytes. Sources of different kinds (file, named
// bytes, memory) never have equal identities.

// Returns the identity of a file in its present state: device, inode, size and
// time of modification.
std::string IdentityOf(const struct stat& file);
// Returns the identity of bytes to which the application has given a name. The
// application guarantees that the name always means the same bytes.
std::string IdentityOf(const std::string& name, int64_t bytes);
// Returns the identity of bytes in memory: a hash of the content. Content of
// more than 1 MiB would take too long to hash, so it gets a new identity each
// time. Empty content stands for unknown bytes and gets a new identity too.
std::string IdentityOf(std::span<const std::byte> content);

}  // namespace bulkhead::worker_link
