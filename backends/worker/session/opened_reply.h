// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/picture_reader.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"

namespace bulkhead::worker::session {

// Sends the reply `opened`: what the container declares about the stream of
// `reader`, the shape of its pictures from `converter`, and how many threads
// the decoder has.
ipc::Expected<void> SendOpened(HostReplies& replies,
                               const decode::PictureReader& reader,
                               const convert::OutputConverter& converter,
                               uint32_t threads);

}  // namespace bulkhead::worker::session
