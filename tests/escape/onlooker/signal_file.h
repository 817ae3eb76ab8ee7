// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// A library of the C library's package that no program loads by itself. Every
// zygote may open it, and every user can notice when it is opened.
inline constexpr const char* kSignalFile =
    "/usr/lib/x86_64-linux-gnu/libpcprofile.so";

}  // namespace bulkhead::tests
