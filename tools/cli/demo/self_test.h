// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

namespace bulkhead::cli::demo {

// Decodes one small generated picture on `device`, through discovery, sandbox,
// zygote and session like any other file. Returns OK, or why decoding failed.
Status DecodeTestPicture(Host& host, const std::string& device);

}  // namespace bulkhead::cli::demo
