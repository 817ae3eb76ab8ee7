// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/external_events.h"

#include <sys/stat.h>

#include <string>

#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::backend {

using Event = BackendEvent;

kj::Promise<Status> ExternalEvents::Restart() {
  return lifecycle_.Raise(Event::kRestartAsked,
                          {.text = "it was restarted on command"});
}

kj::Promise<Status> ExternalEvents::Disable() {
  return lifecycle_.Raise(Event::kDisableAsked,
                          {.text = "it was disabled on command"});
}

kj::Promise<Status> ExternalEvents::Enable() {
  // No operator disabled it: only other files help.
  if (!lifecycle_.candidate().usable()) return lifecycle_.refusal();
  return lifecycle_.Raise(Event::kEnableAsked);
}

kj::Promise<Status> ExternalEvents::Reload() {
  return lifecycle_.Raise(Event::kReloadAsked);
}

bool ExternalEvents::FilesChanged() {
  lifecycle_.Raise(Event::kFilesChanged);
  return lifecycle_.state() == BackendState::kDraining;
}

kj::Promise<Status> ExternalEvents::FilesSettled() {
  return lifecycle_.Raise(Event::kFilesSettled);
}

kj::Promise<void> ExternalEvents::EndIfOverwritten() {
  const std::string object = ObjectPath(lifecycle_.candidate());
  // If the file system is remote, a child process calls stat first, since the
  // call may hang for ever. Only whether it returns matters.
  struct stat unused = {};
  return places_.Ask(object, [&] { ::stat(object.c_str(), &unused); })
      .then([this](bool answers) {
        if (answers && lifecycle_.incarnations().ObjectIsOverwritten()) {
          lifecycle_.Raise(Event::kFilesOverwritten,
                           {.text = "its object was overwritten while it ran"});
        }
      });
}

bool ExternalEvents::Retire() {
  lifecycle_.Raise(Event::kSuccessorReady);
  return lifecycle_.state() == BackendState::kDraining;
}

}  // namespace bulkhead::backend
