// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead::session {

// By which the bytes of a source are known again: equal for the same state of
// the same bytes. The three kinds are never equal to one another.

std::string IdentityOf(const struct stat& file);
// As the caller vouches.
std::string IdentityOf(const std::string& name, int64_t bytes);
// By their content, if there are not so many that this would take long;
// otherwise, and without any, one that was never there before.
std::string IdentityOf(std::span<const std::byte> content);

}  // namespace bulkhead::session
