// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/stream_link.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/worker_protocol/step_deadline.h"

namespace bulkhead::worker_link {

namespace schema = ipc::schema;

Status OpenStream(WorkerLink& link, worker_protocol::StreamOpening opening,
                  size_t words,
                  const std::function<void(schema::Open::Builder)>& fill,
                  const std::function<Status(schema::Reply::Reader)>& take) {
  link.SetLastRequest("open");
  opening.device = link.started().device_ordinal;
  // A backend may return BULKHEAD_AGAIN for half of the shortest deadline of
  // decoding. After this time the worker reports the backend, before the worker
  // itself is late.
  const Deadlines& deadlines = link.deadlines();
  opening.patience =
      std::min({deadlines.open, deadlines.seek, deadlines.frame}) / 2;
  RETURN_IF_ERROR(link.Send(worker_protocol::OpeningWords(opening) + words,
                            [&](schema::Request::Builder request) {
                              auto open = request.initOpen();
                              worker_protocol::WriteOpening(opening, open);
                              fill(open);
                            }));
  worker_protocol::StepDeadline deadline = link.Within(&Deadlines::open);
  return link.Receive(deadline, "open the file",
                      [&](schema::Reply::Reader reply_untrusted) -> Status {
                        if (reply_untrusted.isFailed()) {
                          return link.FailureOf(reply_untrusted.getFailed());
                        }
                        return take(reply_untrusted);
                      });
}

Result<bool> IsOf(const CurrentPlay& play, WorkerLink& link,
                  schema::Reply::Reader reply_untrusted) {
  uint32_t epoch = 0;
  switch (reply_untrusted.which()) {
    case schema::Reply::FRAME:
      epoch = reply_untrusted.getFrame().getEpoch();
      break;
    case schema::Reply::ENTERED:
      epoch = reply_untrusted.getEntered().getEpoch();
      break;
    case schema::Reply::UNSEEN:
      epoch = reply_untrusted.getUnseen().getEpoch();
      break;
    case schema::Reply::SAMPLES:
      epoch = reply_untrusted.getSamples().getEpoch();
      break;
    case schema::Reply::LOST_SAMPLES:
      epoch = reply_untrusted.getLostSamples().getEpoch();
      break;
    case schema::Reply::SKIPPING:
      epoch = reply_untrusted.getSkipping().getEpoch();
      break;
    case schema::Reply::NEEDS_SLOT:
      epoch = reply_untrusted.getNeedsSlot().getEpoch();
      break;
    case schema::Reply::NEEDS_POOL:
      epoch = reply_untrusted.getNeedsPool().getEpoch();
      break;
    case schema::Reply::PAUSED:
      epoch = reply_untrusted.getPaused();
      break;
    case schema::Reply::END_OF_STREAM:
      epoch = reply_untrusted.getEndOfStream();
      break;
    case schema::Reply::FAILED:
      epoch = reply_untrusted.getFailed().getEpoch();
      break;
    default:
      return link.Misbehaved("it sent what nobody asked for");
  }
  if (epoch > play.epoch) {
    return link.Misbehaved("it answered what was not asked yet");
  }
  return play.playing && epoch == play.epoch;
}

}  // namespace bulkhead::worker_link
