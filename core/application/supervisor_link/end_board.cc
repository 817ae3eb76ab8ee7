// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/end_board.h"

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead::supervisor_link {

using ipc::WatchedWord;

Result<std::shared_ptr<EndBoard>> EndBoard::Create() {
  ASSIGN_OR_RETURN(auto region, FromIpc(ipc::OwnedRegion::CreateReadable(
                                    "bulkhead-ends", sizeof(SessionEnds))));
  return std::shared_ptr<EndBoard>(new EndBoard(std::move(region)));
}

EndBoard::Place EndBoard::Take() {
  for (uint32_t i = 0; i < kMostSessionEnds; ++i) {
    const uint32_t number = next_.fetch_add(1) % kMostSessionEnds;
    if (!taken_[number].exchange(true))
      return Place(shared_from_this(), number);
  }
  return Place();
}

EndBoard::Place::~Place() {
  if (board_) board_->taken_[number_] = false;
}

WatchedWord EndBoard::Place::WorkerOf(uint64_t session) const {
  return {.word = &board_->ends().ended[number_], .value = EndMark(session)};
}

WatchedWord EndBoard::Place::Supervisor() const {
  return WatchedWord::Robust(&board_->ends().supervisor);
}

}  // namespace bulkhead::supervisor_link
