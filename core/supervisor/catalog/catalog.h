// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/scan_cache.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/catalog/file_watch.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Keeps every backend that this bulkheadd knows: those on the plugin path and
// those that were loaded explicitly.
//
// Notices backends that are installed, repaired or removed while the
// application runs. The files are read again after a change (file_watch.h),
// once nothing more has changed for kSettlingTime. They are also read again
// when a backend is about to be started, a device is not found, or the backends
// are listed. Files that did not change are not read again (scan_cache.h).
//
// Whoever asks for a device of Bulkhead's own gets it without a look at what
// strangers have installed: those directories are read half a second after the
// start, or when another device is asked for, the backends are listed or one is
// loaded. With autoload off they are not read at all.
//
// When the files of a backend change:
// - A backend that does not run is replaced at once by one from the new files.
// - For a backend that runs, a successor is started beside it and checked
//   (health_check.h). If it passes, new sessions go to the successor, and the
//   old backend drains: it ends with its last session. Otherwise the old
//   backend goes on, and the same files are tried again only on command.
// - A backend that runs and whose files were removed goes on.
// - A backend whose sessions load it anew cannot go on without its files: a
//   session waits for the successor, and fails if there is none.
// - If the object was overwritten in place and the zygote runs no copy of it,
//   the zygote is ended at once and the sessions are replayed. Requests wait
//   until the file has settled.
//
// A directory on a file system that others serve is searched only if it has
// answered (files/remote_places.h): whoever wants a look at all of them awaits
// AskPlaces() first. If one did not answer, what is known of it stays as it
// was.
//
// Owned by Supervisor. Bound to the event loop's thread; reading the files of
// the plugin path blocks it.
class Catalog : private BackendKeeper, private kj::TaskSet::ErrorHandler {
 public:
  using BackendPointer = std::shared_ptr<Backend>;

  // `context` must outlive this object.
  Catalog(std::vector<discovery::SearchDirectory> plugin_path,
          discovery::Selection selection, const StartContext& context);

  // Asks whether the directories answer that are about to be read, for a look
  // at all of them or for `device`. Resolves once all have, or will not.
  kj::Promise<void> AskPlaces();
  kj::Promise<void> AskPlaces(const discovery::DeviceName& device);

  // Reads all directories of the plugin path unless that was done before.
  // Resolves once that is done.
  kj::Promise<void> LookEverywhere();

  // Returns the backend that has `device`; see discovery::FindBackend.
  Result<BackendPointer> Find(const discovery::DeviceName& device);

  // Registers the backends of a distribution that the application names. Fails,
  // with the reason, if one of them is unusable or there is none. Unusable
  // backends stay registered too. Loading the same distribution again changes
  // nothing.
  kj::Promise<Result<std::vector<BackendPointer>>> Load(
      const std::string& path, const std::string& entry_point);

  // Returns the backend that was called `name` at the last look. If several
  // backends have that name, returns the usable one.
  Result<BackendPointer> Named(const std::string& name) const;
  // Executes an operator's command. A command that waits for a start resolves
  // once the start is over.
  kj::Promise<Status> Command(const std::string& name,
                              ipc::schema::BackendCommand::Action action);

  // Returns all backends; those that drain come last.
  std::vector<BackendPointer> backends() const;
  std::vector<BackendPointer> Usable() const;
  // Fails with kUnsupported if the backend's manifest says that it does not
  // decode such streams. The message names the devices that do.
  Status CheckDecodes(const Backend& backend, discovery::StreamKind kind) const;
  // Returns the device whose worker can say what an input is before `backend`
  // is started for it; empty if the backend runs already or does not say what
  // it decodes. Only devices of Bulkhead's own backends are named: the caller
  // lets no other vendor's process read the input than the one it chose.
  std::string DescriberFor(const Backend& backend) const;
  // Returns the backend that serves the session, or null.
  BackendPointer OfSession(uint64_t session) const;

  // Returns why a running backend differs from the installed files, such as why
  // a reload was rolled back; empty if it does not differ.
  std::string NoticeOf(const Backend& backend) const;
  // Describes the backends, after reading the installed files again.
  void Describe(sandbox::Tier tier, ipc::schema::Backends::Builder out);

 private:
  // The last attempt to replace a running backend by one from the present
  // files.
  struct Succession {
    discovery::BackendCandidate files;
    BackendPointer successor;  // null once the attempt is over
    std::string failure;       // why the old backend goes on
    uint64_t changes = 0;      // changes_ when the attempt began
    kj::Maybe<kj::ForkedPromise<Status>> outcome;
  };

  kj::Promise<Status> StartSuccessor(unsigned number) override;
  kj::Promise<Status> NeedSuccessor(unsigned number) override;
  kj::Promise<Status> ReplaceNumber(unsigned number);
  // Returns the backend in its place, or null if it has left it.
  BackendPointer InPlace(unsigned number) const;
  void LookAgain() override { NoteChange(); }
  // Reads the files again: of all directories, or of Bulkhead's own alone.
  enum class Reach { kEverywhere, kOwn };
  void Refresh(Reach reach = Reach::kEverywhere);
  // Reads everything again, in several searches if directories are very full:
  // what fills a directory hides no backend beyond it.
  void RefreshAll();
  // Returns the backend that has the device, if it serves now.
  BackendPointer Serving(const discovery::DeviceName& device) const;
  // Returns whether no package can have the device.
  bool IsOwn(const discovery::DeviceName& device) const;
  Result<std::vector<BackendPointer>> Load(const discovery::ExplicitLoad& load,
                                           bool is_new,
                                           const std::string& path);
  kj::Promise<Status> CommandNamed(const std::string& name,
                                   ipc::schema::BackendCommand::Action action);
  kj::Promise<Status> Reload(BackendPointer backend);
  // Replaces a running backend by one from the present files. Joins an attempt
  // that is under way.
  kj::Promise<Status> Replace(BackendPointer old);
  // Ends the attempt: retires the old backend if `checked` is OK.
  Status Conclude(const BackendPointer& old, const Status& checked);
  // Tells each backend whose files changed that they have settled.
  void ReplaceChanged();
  // Returns whether the backend serves, its files changed, and the present
  // files were not tried yet.
  bool IsToBeReplaced(const Backend& backend) const;
  // Keeps a backend that left its place until its last session has ended.
  void Drain(BackendPointer old);
  BackendPointer MakeBackend(const discovery::BackendCandidate& candidate);
  // Returns a number that gives the backend a uid of its own outside the
  // sandbox (sandbox::OutsideId).
  unsigned FreeNumber();
  // Disables or enables the backend, and keeps a record of that.
  kj::Promise<Status> Disable(Backend& backend);
  kj::Promise<Status> Enable(Backend& backend);
  // Returns whether packages of the directory are wanted.
  bool IsWanted(const discovery::SearchDirectory& directory) const;
  void WatchFiles();
  kj::Promise<void> AwaitChanges();
  void NoteChange();
  kj::Promise<void> Settle(unsigned rounds_left);
  void LookAfterSettling(Reach reach);
  void taskFailed(kj::Exception&& exception) override;
  BackendPointer BackendOf(const discovery::BackendCandidate* candidate) const;

  const std::vector<discovery::SearchDirectory> plugin_path_;
  const discovery::Selection selection_;
  const StartContext& context_;
  discovery::ScanCache cache_;
  // Remote directories that were not asked last time, or did not answer.
  std::set<std::string> silent_;
  bool looked_everywhere_ = false;
  std::vector<discovery::ExplicitLoad> loads_;
  discovery::Discovery discovery_;
  std::vector<BackendPointer> backends_;  // in the order of discovery_.backends
  std::vector<BackendPointer> draining_;
  // The present files of each backend in backends_. A backend whose files were
  // removed has no entry.
  std::map<const Backend*, discovery::BackendCandidate> present_;
  std::map<const Backend*, Succession> successions_;
  unsigned next_number_ = 0;
  FileWatch watch_;
  uint64_t changes_ = 0;   // the number of changes noticed so far
  bool settling_ = false;  // true while Settle() runs
  // Last member, and destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
