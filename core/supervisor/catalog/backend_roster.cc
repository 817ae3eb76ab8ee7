// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/backend_roster.h"

#include <algorithm>
#include <set>
#include <utility>

namespace bulkhead::catalog {
namespace {

using discovery::BackendCandidate;

// The number of different uids that sandbox::OutsideId gives.
constexpr unsigned kNumbers = 32;

// Returns whether both are the same backend of the same distribution, perhaps
// in different versions.
bool IsSameBackend(const BackendCandidate& a, const BackendCandidate& b) {
  return a.name() == b.name() &&
         (a.entry_point.file == b.entry_point.file ||
          (a.directory == b.directory &&
           a.entry_point.distribution == b.entry_point.distribution));
}

}  // namespace

void BackendRoster::Update(
    discovery::Discovery latest,
    const std::function<bool(const std::string&)>& is_silent) {
  std::vector<Entry> entries;
  // Moves the old entry of a candidate out of entries_, where an entry without
  // a backend remains.
  const auto take = [&](const BackendCandidate& candidate) {
    const auto known =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
          return other.backend &&
                 IsSameBackend(other.backend->candidate(), candidate);
        });
    return known == entries_.end() ? Entry() : std::move(*known);
  };
  for (BackendCandidate& candidate : latest.backends) {
    Entry known = take(candidate);
    // Asked now, because FilesChanged() below changes the state.
    const bool disabled =
        known.backend && known.backend->lifecycle().disabled();
    if (known.backend && (known.backend->candidate() == candidate ||
                          !known.backend->external_events().FilesChanged())) {
      // The backend stays, so discovery_ gets the files that it was made from.
      known.present = candidate;
      candidate = known.backend->candidate();
    } else {
      if (known.backend) Drain(std::move(known.backend));
      known = {.backend = Make(candidate), .present = candidate, .attempt = {}};
      if (disabled || context_.disabled.Contains(candidate.name())) {
        known.backend->external_events().Disable();
      }
    }
    entries.push_back(std::move(known));
  }
  // Entries that are left have no candidate: their files were removed or could
  // not be read.
  for (Entry& removed : entries_) {
    if (!removed.backend) continue;
    const bool silent = is_silent(removed.backend->candidate().directory);
    if (!silent && removed.backend->external_events().FilesChanged()) {
      Drain(std::move(removed.backend));
      continue;
    }
    removed.present.reset();
    if (silent) removed.present = removed.backend->candidate();
    latest.backends.push_back(removed.backend->candidate());
    entries.push_back(std::move(removed));
  }
  entries_ = std::move(entries);
  discovery_ = std::move(latest);
}

BackendPointer BackendRoster::Make(const BackendCandidate& candidate) {
  auto made = std::make_shared<backend::Backend>(candidate, FreeNumber(),
                                                 context_, keeper_);
  made_.push_back(made);
  return made;
}

unsigned BackendRoster::FreeNumber() {
  std::erase_if(made_, [](const auto& backend) { return backend.expired(); });
  std::set<unsigned> taken;
  for (const std::weak_ptr<backend::Backend>& backend : made_) {
    taken.insert(backend.lock()->lifecycle().number() % kNumbers);
  }
  for (unsigned tries = 1; tries < kNumbers; ++tries) {
    if (!taken.contains(next_number_ % kNumbers)) break;
    ++next_number_;
  }
  return next_number_++;
}

void BackendRoster::Succeed(Entry& entry, BackendPointer successor) {
  discovery_.backends[static_cast<size_t>(&entry - entries_.data())] =
      successor->candidate();
  BackendPointer old = std::exchange(entry.backend, std::move(successor));
  entry.present = entry.backend->candidate();
  entry.attempt = {};
  Drain(std::move(old));
}

void BackendRoster::Drain(BackendPointer old) {
  if (!old->busy()) return;
  auto drained = old->WhenDrained().then([this, backend = old.get()] {
    std::erase_if(draining_, [&](const BackendPointer& other) {
      return other.get() == backend;
    });
  });
  draining_.push_back(std::move(old));
  tasks_.add(kj::mv(drained));
}

BackendRoster::Entry* BackendRoster::InPlace(unsigned number) {
  const auto found = std::find_if(
      entries_.begin(), entries_.end(), [number](const Entry& entry) {
        return entry.backend->lifecycle().number() == number;
      });
  return found == entries_.end() ? nullptr : &*found;
}

const BackendRoster::Entry* BackendRoster::EntryOf(
    const backend::Backend& backend) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&backend](const Entry& entry) {
                                    return entry.backend.get() == &backend;
                                  });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<BackendPointer> BackendRoster::All() const {
  std::vector<BackendPointer> all;
  for (const Entry& entry : entries_) all.push_back(entry.backend);
  all.insert(all.end(), draining_.begin(), draining_.end());
  return all;
}

std::vector<BackendPointer> BackendRoster::Usable() const {
  std::vector<BackendPointer> usable;
  for (const Entry& entry : entries_) {
    if (entry.backend->candidate().usable()) usable.push_back(entry.backend);
  }
  return usable;
}

Result<BackendPointer> BackendRoster::Find(const DeviceName& device) const {
  const auto backend_of = [this](const BackendCandidate* candidate) {
    return entries_[static_cast<size_t>(candidate - discovery_.backends.data())]
        .backend;
  };
  auto found = discovery::FindBackend(
      discovery_, device, [&](const BackendCandidate& candidate) {
        return backend_of(&candidate)->lifecycle().reason();
      });
  if (!found) return std::move(found).error();
  return backend_of(*found);
}

BackendPointer BackendRoster::Serving(const DeviceName& device) const {
  const auto found = Find(device);
  return found && (*found)->lifecycle().serving() ? *found : nullptr;
}

Result<BackendPointer> BackendRoster::Named(const std::string& name) const {
  BackendPointer found;
  std::string names;
  for (const auto& [backend, present, attempt] : entries_) {
    const BackendCandidate& candidate = backend->candidate();
    names += (names.empty() ? "" : ", ") + candidate.name();
    if (candidate.name() != name) continue;
    if (!found || (candidate.usable() && !found->candidate().usable())) {
      found = backend;
    }
  }
  if (found) return found;
  return Status(Code::kNotFound,
                "there is no backend " + name +
                    (names.empty() ? std::string("; none was found")
                                   : "; there are: " + names));
}

BackendPointer BackendRoster::OfSession(uint64_t session) const {
  for (const BackendPointer& backend : All()) {
    if (backend->HasSession(session)) return backend;
  }
  return nullptr;
}

}  // namespace bulkhead::catalog
