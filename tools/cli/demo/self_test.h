// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

namespace bulkhead::cli {

// Decodes one small picture, made up here, on `device`: through discovery,
// sandbox, zygote and session like any other. OK, or why it cannot be done.
Status DecodeTestPicture(Host& host, const std::string& device);

}  // namespace bulkhead::cli
