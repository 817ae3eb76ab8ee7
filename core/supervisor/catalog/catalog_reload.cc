// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/files/file_settling.h"

// How the Catalog learns that files have changed, and what follows for backends
// that run.
namespace bulkhead::supervisor {
namespace {

using discovery::BackendCandidate;

// The rounds of kSettlingTime to wait while changes go on: half a minute.
constexpr unsigned kRounds = 60;
// The least time between two reads of the watch, so that a directory that
// changes all the time does not keep the event loop busy.
constexpr kj::Duration kBetweenLooks = 10 * kj::MILLISECONDS;
// sandbox::OutsideId gives only so many different uids.
constexpr unsigned kNumbers = 32;

std::string ParentOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

void Catalog::taskFailed(kj::Exception&&) {
  // Only kj throws here, for lack of memory. The next Refresh() sees the change
  // again.
}

std::vector<Catalog::BackendPointer> Catalog::backends() const {
  std::vector<BackendPointer> all = backends_;
  all.insert(all.end(), draining_.begin(), draining_.end());
  return all;
}

Catalog::BackendPointer Catalog::MakeBackend(
    const BackendCandidate& candidate) {
  return std::make_shared<Backend>(candidate, FreeNumber(), context_,
                                   static_cast<BackendKeeper&>(*this));
}

unsigned Catalog::FreeNumber() {
  std::set<unsigned> taken;
  const auto take = [&](const BackendPointer& backend) {
    if (backend) taken.insert(backend->lifecycle().number() % kNumbers);
  };
  std::for_each(backends_.begin(), backends_.end(), take);
  std::for_each(draining_.begin(), draining_.end(), take);
  for (const auto& [old, succession] : successions_) take(succession.successor);
  for (unsigned tries = 1; tries < kNumbers; ++tries) {
    if (!taken.contains(next_number_ % kNumbers)) break;
    ++next_number_;
  }
  return next_number_++;
}

void Catalog::WatchFiles() {
  std::set<std::string> directories;
  for (const discovery::SearchDirectory& directory : plugin_path_) {
    directories.insert(directory.path);
  }
  for (const BackendCandidate& candidate : discovery_.backends) {
    directories.insert(candidate.directory);
    directories.insert(candidate.dist_info);
    directories.insert(ParentOf(ObjectPath(candidate)));
  }
  for (const auto& [backend, candidate] : present_) {
    directories.insert(candidate.dist_info);
    directories.insert(ParentOf(ObjectPath(candidate)));
  }
  // To watch a directory is to look it up.
  std::erase_if(directories, [this](const std::string& directory) {
    return std::ranges::any_of(silent_, [&](const std::string& silent) {
      return directory == silent || directory.starts_with(silent + "/");
    });
  });
  watch_.Watch(directories);
}

kj::Promise<void> Catalog::AwaitChanges() {
  return watch_.WhenChanged()
      .then([this] {
        NoteChange();
        return context_.port.getTimer().afterDelay(kBetweenLooks);
      })
      .then([this] { return AwaitChanges(); });
}

void Catalog::NoteChange() {
  ++changes_;
  // At once and not after settling: the zygote of an overwritten object that is
  // no copy runs on pages that are gone.
  for (const BackendPointer& backend : backends()) {
    if (!backend->lifecycle().RunsOnItsFile()) continue;
    tasks_.add(backend->lifecycle().EndIfOverwritten().attach(
        BackendPointer(backend)));
  }
  if (settling_) return;
  settling_ = true;
  tasks_.add(Settle(kRounds));
}

kj::Promise<void> Catalog::Settle(unsigned rounds_left) {
  const auto delay = kSettlingTime.count() * kj::MILLISECONDS;
  return context_.port.getTimer().afterDelay(delay).then(
      [this, rounds_left, changes = changes_]() -> kj::Promise<void> {
        if (changes != changes_ && rounds_left > 0) {
          return Settle(rounds_left - 1);
        }
        // What packages say about themselves delays nobody who never asked for
        // one.
        if (!looked_everywhere_) {
          LookAfterSettling(Reach::kOwn);
          return kj::READY_NOW;
        }
        return AskPlaces().then(
            [this] { LookAfterSettling(Reach::kEverywhere); });
      });
}

void Catalog::LookAfterSettling(Reach reach) {
  // Before settling_ is reset, so that Refresh() begins no other round for the
  // changes that are handled here.
  Refresh(reach);
  settling_ = false;
  if (cache_.unread() > 0) NoteChange();
  ReplaceChanged();
}

bool Catalog::IsToBeReplaced(const Backend& backend) const {
  const auto present = present_.find(&backend);
  if (present == present_.end() || present->second == backend.candidate()) {
    return false;
  }
  // A backend that starts is replaced once it is ready; one that does neither
  // was replaced by Refresh().
  if (!backend.lifecycle().serving()) return false;
  const auto tried = successions_.find(&backend);
  return tried == successions_.end() ||
         !(tried->second.files == present->second);
}

void Catalog::ReplaceChanged() {
  for (const BackendPointer& backend : std::vector(backends_)) {
    if (!IsToBeReplaced(*backend)) continue;
    tasks_.add(backend->lifecycle().FilesSettled().ignoreResult());
  }
}

Catalog::BackendPointer Catalog::InPlace(unsigned number) const {
  const auto found =
      std::find_if(backends_.begin(), backends_.end(),
                   [number](const BackendPointer& backend) {
                     return backend->lifecycle().number() == number;
                   });
  return found == backends_.end() ? nullptr : *found;
}

kj::Promise<Status> Catalog::StartSuccessor(unsigned number) {
  BackendPointer old = InPlace(number);
  // A backend that drains is in no place that another could take.
  if (!old) {
    return Status(Code::kBackendLost, "the backend was replaced meanwhile");
  }
  return Replace(std::move(old));
}

kj::Promise<Status> Catalog::NeedSuccessor(unsigned number) {
  return AskPlaces().then([this, number] {
    Refresh();
    return ReplaceNumber(number);
  });
}

kj::Promise<Status> Catalog::ReplaceNumber(unsigned number) {
  const BackendPointer old = InPlace(number);
  if (!old) return Status();
  const std::string failure = NoticeOf(*old);
  const auto tried = successions_.find(old.get());
  // Every session would start the same broken files once more.
  if (!failure.empty() &&
      (tried == successions_.end() || !tried->second.successor)) {
    return Status(Code::kBackendUnavailable,
                  "the backend " + old->candidate().name() + ": " + failure);
  }
  return Replace(old);
}

kj::Promise<Status> Catalog::Replace(BackendPointer old) {
  const auto present = present_.find(old.get());
  if (present == present_.end()) {
    return Status(Code::kNotFound, NoticeOf(*old));
  }
  Succession& succession = successions_[old.get()];
  if (succession.successor) {
    return KJ_ASSERT_NONNULL(succession.outcome).addBranch();
  }
  const auto successor = MakeBackend(present->second);
  auto outcome =
      successor->lifecycle()
          .EnsureReady()
          .then([successor](Status ready) -> kj::Promise<Status> {
            if (!ready.ok()) return ready;
            return successor->lifecycle().CheckNewVersion();
          })
          .then([this, old](Status checked) { return Conclude(old, checked); })
          .fork();
  // The attempt goes on even if whoever asked for it does not wait.
  tasks_.add(outcome.addBranch().ignoreResult());
  auto branch = outcome.addBranch();
  succession.files = present->second;
  succession.successor = successor;
  succession.changes = changes_;
  succession.outcome = kj::mv(outcome);
  return branch;
}

Status Catalog::Conclude(const BackendPointer& old, const Status& checked) {
  Succession& succession = successions_[old.get()];
  const BackendPointer successor = std::move(succession.successor);
  // Files that changed during the attempt may differ from those just checked.
  if (changes_ != succession.changes) NoteChange();
  // A Refresh() during the attempt may have given the place to another backend.
  const auto place = std::find(backends_.begin(), backends_.end(), old);
  if (place == backends_.end()) {
    return Status(Code::kBackendLost,
                  "the backend " + old->candidate().name() +
                      " was replaced or removed while it was reloaded; see "
                      "`bulkhead backends`");
  }
  if (!checked.ok() || !old->lifecycle().Retire()) {
    const std::string why =
        checked.ok() ? "it was disabled meanwhile" : checked.message();
    succession.failure =
        "what is installed now is not used, and what ran before goes on: " +
        why +
        "; it is tried again when its files change or after `bulkhead "
        "reload " +
        old->candidate().name() + "`";
    return Status(checked.code() == Code::kBackendMisbehaved
                      ? Code::kBackendMisbehaved
                      : Code::kBackendUnavailable,
                  "the backend " + old->candidate().name() +
                      " was not reloaded: " + succession.failure);
  }
  discovery_.backends[static_cast<size_t>(place - backends_.begin())] =
      successor->candidate();
  *place = successor;
  present_.emplace(successor.get(), successor->candidate());
  Drain(old);
  return Status();
}

void Catalog::Drain(BackendPointer old) {
  successions_.erase(old.get());
  present_.erase(old.get());
  if (!old->busy()) return;
  auto drained = old->WhenDrained().then([this, backend = old.get()] {
    std::erase_if(draining_, [&](const BackendPointer& other) {
      return other.get() == backend;
    });
  });
  draining_.push_back(std::move(old));
  tasks_.add(kj::mv(drained));
}

std::string Catalog::NoticeOf(const Backend& backend) const {
  if (backend.lifecycle().state() == BackendState::kDraining) return "";
  const auto present = present_.find(&backend);
  if (present == present_.end()) {
    return "its files were removed; it goes on with what it has in memory";
  }
  const auto tried = successions_.find(&backend);
  const bool failed =
      tried != successions_.end() && tried->second.files == present->second;
  return failed ? tried->second.failure : "";
}

}  // namespace bulkhead::supervisor
