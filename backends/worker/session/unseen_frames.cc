// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/unseen_frames.h"

#include <algorithm>
#include <utility>

#include "ipc/damage_sign.h"
#include "ipc/try.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;
using Fate = schema::UnseenFrame::Fate;

constexpr size_t kUnseenPerMessage = 128;
constexpr size_t kUnseenWords =
    kSmallReplyWords +
    schema::UnseenFrame::_capnpPrivate::dataWordSize * kUnseenPerMessage +
    kComplaintWords;

}  // namespace

void UnseenFrames::Clear() {
  unseen_.clear();
  complaint_.clear();
}

void UnseenFrames::AddLosses(decode::PictureReader& reader) {
  for (const ipc::Loss& loss : reader.TakeLosses()) {
    unseen_.push_back({ipc::IsNote(loss.sign) ? Fate::NOTE
                       : loss.not_in_index    ? Fate::NOT_IN_INDEX
                                              : Fate::LOST,
                       loss});
    if (auto words = reader.TakeComplaint(); !words.empty()) {
      complaint_ = std::move(words);
    }
  }
}

void UnseenFrames::AddSkipped(const decode::PictureReader& reader) {
  const decode::DecodedFrame& frame = reader.picture();
  unseen_.push_back({reader.damaged() ? Fate::DAMAGED : Fate::SOUND,
                     {.pts = frame->pts,
                      .duration = frame->duration,
                      .position = reader.position(),
                      .packets = 1,
                      .sign = reader.sign()}});
}

bool UnseenFrames::fill_a_message() const {
  return unseen_.size() >= kUnseenPerMessage;
}

ipc::Expected<void> UnseenFrames::Send(uint32_t epoch,
                                       const decode::PictureReader& reader) {
  for (size_t sent = 0; sent < unseen_.size();) {
    // A message has only one text. A loss with the sign kStopped comes last and
    // has a text of its own, from libavformat, which stopped reading. So it
    // gets a message of its own.
    const bool stopped = unseen_[sent].frame.sign == ipc::DamageSign::kStopped;
    const auto stop =
        std::find_if(unseen_.begin() + static_cast<ptrdiff_t>(sent) + 1,
                     unseen_.end(), [](const Unseen& unseen) {
                       return unseen.frame.sign == ipc::DamageSign::kStopped;
                     });
    const size_t count = std::min(
        kUnseenPerMessage, static_cast<size_t>(stop - unseen_.begin()) - sent);
    const std::string words =
        stopped ? reader.demuxer().missing_end().error : complaint_;
    IPC_TRY(replies_.Send(kUnseenWords, [&](schema::Reply::Builder reply) {
      auto unseen = reply.initUnseen();
      unseen.setEpoch(epoch);
      unseen.setWords(words.substr(0, kMostComplaintBytes));
      auto frames = unseen.initFrames(count);
      for (size_t i = 0; i < count; ++i) {
        const auto& [fate, frame] = unseen_[sent + i];
        frames[i].setFate(fate);
        frames[i].setPts(frame.pts);
        frames[i].setDuration(frame.duration);
        frames[i].setPosition(frame.position);
        frames[i].setCount(frame.packets);
        frames[i].setEndPosition(frame.end_position);
        frames[i].setDeclaredSize(frame.declared_size);
        frames[i].setSign(SignOf(frame.sign));
      }
    }));
    sent += count;
  }
  Clear();
  return {};
}

}  // namespace bulkhead::worker::session
