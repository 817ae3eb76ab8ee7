// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/lifecycle.h"
#include "core/supervisor/files/remote_places.h"

namespace bulkhead::backend {

// Raises the events that reach a backend from outside: commands of operators,
// changes of its installed files, and its replacement by a successor. The table
// of states.h says what follows, and Lifecycle executes it. Sessions go on.
//
// Owned by Backend. Bound to the event loop's thread. Promises must not outlive
// the object.
class ExternalEvents {
 public:
  // Both must outlive this object.
  ExternalEvents(Lifecycle& lifecycle, files::RemotePlaces& places)
      : lifecycle_(lifecycle), places_(places) {}
  KJ_DISALLOW_COPY(ExternalEvents);

  // Commands of operators. A command fails, with the reason, if the backend is
  // disabled.
  kj::Promise<Status> Restart();
  kj::Promise<Status> Disable();
  kj::Promise<Status> Enable();
  kj::Promise<Status> Reload();

  // Notes that the installed files differ from those that discovery found.
  // Returns whether this backend drains now and another one takes its place.
  bool FilesChanged();
  // Notes that the changed files are complete.
  kj::Promise<Status> FilesSettled();
  // Ends the zygote if its object was overwritten in place: the pages of the
  // old object that the zygote has mapped are gone, so the zygote can serve no
  // new session. A zygote that runs a copy goes on.
  kj::Promise<void> EndIfOverwritten();
  // Lets a successor take all new sessions. Returns false if the backend is
  // disabled, in which case nothing may take its place.
  bool Retire();

 private:
  Lifecycle& lifecycle_;
  files::RemotePlaces& places_;
};

}  // namespace bulkhead::backend
