// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/stream_session.h"

#include <utility>

#include "core/base/status_macros.h"

namespace bulkhead::session {

int StreamSession::worker_pid() const {
  const WorkerLink* const link = recovery_.link_if_any();
  return link ? link->pid() : 0;
}

std::string StreamSession::Quote(const std::string& backend,
                                 const std::string& words,
                                 ipc::DamageSign sign) {
  if (words.empty()) return "";
  const std::string who =
      sign == ipc::DamageSign::kStopped ? "libavformat" : "backend " + backend;
  return "; " + who + " says: \"" + words + '"';
}

Status StreamSession::OpenFirst() {
  Status opened = recovery_.Open();
  // Before a worker was met, nobody knows what the input is.
  return met_worker_ ? vetting_->Explain(std::move(opened)) : opened;
}

Status StreamSession::OpenOn(WorkerLink& link, uint32_t incarnation) {
  met_worker_ = true;
  ASSIGN_OR_RETURN(const bool same, OpenStream(link, incarnation));
  if (!same) {
    return Status(Code::kBadInput,
                  "it was opened again in a new worker and has another stream "
                  "now (another size, codec or index): the file was changed "
                  "meanwhile; open it again from the start");
  }
  if (pool_) {
    const Status attached = link.AttachPool(pool_);
    if (attached.code() != Code::kNotFound) return attached;
  }
  ASSIGN_OR_RETURN(pool_, MakePool());
  return link.AttachPool(pool_);
}

void StreamSession::WorkerLost(bool kept) {
  LinkLost();
  if (pool_ && kept) {
    pool_->ledger().RevokeGrants();
  } else {
    pool_.reset();
  }
}

void StreamSession::DeviceChanged() {
  vetting_ = vetting_elsewhere_;
  met_worker_ = false;
  OptionsChanged();
}

}  // namespace bulkhead::session
