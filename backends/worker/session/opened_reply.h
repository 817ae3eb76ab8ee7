// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/picture_reader.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"

namespace bulkhead::worker::session {

// Sends the reply `opened`: the container's declarations about the stream of
// `reader`; the size, pixel format and element type of the output, from
// `converter`; and the number of the decoder's threads.
ipc::Expected<void> SendOpened(HostReplies& replies,
                               const decode::PictureReader& reader,
                               const convert::OutputConverter& converter,
                               uint32_t threads);

}  // namespace bulkhead::worker::session
