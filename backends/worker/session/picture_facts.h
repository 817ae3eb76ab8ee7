// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// The colours and the interlacing of a picture, as the backend states them. A
// value that the schema does not allow is replaced by "unspecified".
struct PictureFacts {
  uint8_t primaries;
  uint8_t transfer;
  uint8_t space;
  uint8_t range;
  uint8_t chroma_location;
  bool interlaced;
  bool top_field_first;
};

PictureFacts FactsOf(const bulkhead_frame& frame);
// Writes the facts into a reply.
void SetFacts(ipc::schema::PictureFacts::Builder out,
              const PictureFacts& facts);

}  // namespace bulkhead::worker::session
