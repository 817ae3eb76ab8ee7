// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/catalog/catalog.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::catalog {

// Describes for operators the backends that the last search found, the
// directories that it searched, and the problems of both.
void DescribeBackends(const Catalog& catalog,
                      const backend::StartContext& context,
                      ipc::schema::Backends::Builder out);

}  // namespace bulkhead::catalog
