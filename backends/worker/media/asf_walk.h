// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The facts that the header of an ASF file (WMA, WMV) tells.
struct AsfHeader {
  int64_t packets = 0;  // the offset of the first packet; 0: unknown
  int64_t packet_bytes = 0;
  int64_t end = 0;            // of the packets; 0: unknown
  int64_t microseconds = -1;  // the length; -1: unknown
};

// Reads it. The file is hostile.
AsfHeader ReadAsfHeader(FileWindow& file);

// Walks the packets of ASF, which all have one length. A picture or a part of
// the sound is an object, which lies in payloads of one or more packets. Bytes
// are lost where a packet cannot be read or does not begin where the one before
// ends, where a payload does not go on with the object before, and where the
// numbers of the stream's objects leave one out, once they have counted some.
//
// libavformat puts payloads together whose objects have the same length, so
// that the start of one and the rest of another become a packet.
class AsfWalk final : public ContainerWalk {
 public:
  // `stream` is the stream's number in the file.
  static std::optional<AsfWalk> Open(FileWindow file, int stream);

  // `position` is that of the ASF packet in which the object begins.
  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

 private:
  struct Payload {
    int stream = 0;
    uint32_t number = 0;
    uint32_t offset = 0;  // in the object
    uint32_t bytes = 0;
    uint32_t object_bytes = 0;  // 0: not told
  };

  AsfWalk(FileWindow file, const AsfHeader& header, int stream)
      : file_(std::move(file)),
        header_(header),
        stream_(stream),
        next_(header.packets) {}

  // Takes the packet at next_, and goes on to the one behind.
  void TakePacket();
  // Takes the payloads of a packet. Returns false if it cannot be read.
  bool TakePayloads(std::span<const uint8_t> packet);
  void Take(const Payload& payload);
  // Records that bytes are lost before the end of the packet at next_.
  void Lose();

  FileWindow file_;
  AsfHeader header_;
  int stream_;
  int64_t next_;
  int64_t last_ = -1;  // the position that was asked for

  // The object that is not whole yet.
  uint32_t object_bytes_ = 0;  // 0: none
  uint32_t received_ = 0;
  uint32_t number_ = 0;
  uint32_t goes_on_at_ = 0;
  bool is_mixed_ = false;  // with another one
  std::optional<uint32_t> last_number_;
  int counted_ = 0;         // objects whose numbers follow each other
  bool has_begun_ = false;  // an object has begun since Restart()
  bool lost_ = false;
};

}  // namespace bulkhead::worker
