// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ipc/message_socket.h"

namespace bulkhead::fuzz {

// Passes the bytes of a hostile peer through a socket, as the receiver of every
// control message meets them. Returns nullopt if they are refused as a packet.
std::optional<ipc::ReceivedMessage> Received(std::span<const uint8_t> packet);

// Sends the bytes as one packet. Returns false if the socket takes none.
bool SendPacket(int socket, std::span<const uint8_t> packet, int fd = -1);

}  // namespace bulkhead::fuzz
