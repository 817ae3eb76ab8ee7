// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/catalog/catalog.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::catalog {

// Describes the backends as they were found at the last look, and what is wrong
// with them and with the places that were searched.
void DescribeBackends(const Catalog& catalog,
                      const backend::StartContext& context,
                      ipc::schema::Backends::Builder out);

}  // namespace bulkhead::catalog
