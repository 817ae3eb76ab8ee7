// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/play_request.h"

namespace bulkhead::worker_link {

std::string Describe(const PlayRequest& play) {
  std::string text = "play on";
  if (play.start == PlayRequest::Start::kBeginning) {
    text = "play from the beginning";
  } else if (play.start == PlayRequest::Start::kKeyframe) {
    text = "play from the keyframe at or before timestamp " +
           std::to_string(play.keyframe_before);
  } else if (play.start == PlayRequest::Start::kPacket) {
    text =
        "play from the packet with timestamp " + std::to_string(play.entry.pts);
  }
  if (play.skip_before != INT64_MIN) {
    text += ", show from timestamp " + std::to_string(play.skip_before);
  }
  return text;
}

void Write(const PlayRequest& play, ipc::schema::Play::Builder out) {
  auto start = out.getStart();
  switch (play.start) {
    case PlayRequest::Start::kOnward:
      start.setOnward();
      break;
    case PlayRequest::Start::kBeginning:
      start.setBeginning();
      break;
    case PlayRequest::Start::kKeyframe:
      start.setKeyframe(play.keyframe_before);
      break;
    case PlayRequest::Start::kPacket: {
      auto packet = start.initPacket();
      packet.setTimestamp(play.entry.pts);
      packet.setPosition(play.entry.position);
      packet.setCheck(play.entry.check);
      break;
    }
  }
  out.setSkipBefore(play.skip_before);
  out.setMaxFrames(play.max_frames);
}

}  // namespace bulkhead::worker_link
