// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/catalog.h"

#include <utility>

namespace bulkhead::catalog {
namespace {

using discovery::BackendCandidate;

// The most searches that one request may make, each of which reads other
// folders.
constexpr int kMostLooks = 4;

}  // namespace

Catalog::Catalog(std::vector<discovery::SearchDirectory> plugin_path,
                 discovery::Selection selection,
                 const backend::StartContext& context)
    : search_(std::move(plugin_path), std::move(selection), context),
      changes_(context.port, tasks_, MakeListener()),
      roster_(context, *this, tasks_),
      reload_(roster_, changes_, tasks_),
      tasks_(*this) {
  Refresh(PluginSearch::Reach::kOwn);
  tasks_.add(changes_.Run());
}

void Catalog::taskFailed(kj::Exception&&) {
  // Only kj throws here, for lack of memory. The next Refresh() sees the change
  // again.
}

PathChanges::Listener Catalog::MakeListener() {
  return {.changed = [this] { EndOverwritten(); },
          .ask = [this]() -> kj::Promise<void> {
            // An application that uses only Bulkhead's own backends never
            // waits for the directories of others.
            if (!search_.looked_everywhere()) return kj::READY_NOW;
            return AskPlaces();
          },
          .look =
              [this] {
                Refresh(search_.looked_everywhere()
                            ? PluginSearch::Reach::kEverywhere
                            : PluginSearch::Reach::kOwn);
              },
          .looked =
              [this] {
                // The search left a part of a very full directory unread.
                // Another round goes on there.
                if (search_.unread()) changes_.Note();
                reload_.ReplaceChanged();
              }};
}

void Catalog::EndOverwritten() {
  // Does not wait until the files settle: such a zygote runs on pages of the
  // object that are gone.
  for (const BackendPointer& backend : backends()) {
    if (!backend->lifecycle().incarnations().RunsOnItsFile()) continue;
    tasks_.add(backend->external_events().EndIfOverwritten().attach(
        BackendPointer(backend)));
  }
}

kj::Promise<void> Catalog::LookEverywhere() {
  if (search_.looked_everywhere()) return kj::READY_NOW;
  return AskPlaces().then([this] { Refresh(); });
}

kj::Promise<void> Catalog::AskPlaces(const DeviceName& device) {
  // Find() reads no remote directory in either case.
  const bool nearby = roster_.Serving(device) ||
                      (!search_.looked_everywhere() && search_.IsOwn(device));
  return nearby ? kj::Promise<void>(kj::READY_NOW) : AskPlaces();
}

void Catalog::RefreshAll() {
  Refresh();
  for (int more = 1; more < kMostLooks && search_.unread(); ++more) Refresh();
}

void Catalog::Refresh(PluginSearch::Reach reach) {
  roster_.Update(search_.Search(reach), [this](const std::string& directory) {
    return search_.IsSilent(directory);
  });
  std::vector<BackendCandidate> watched = discovery().backends;
  for (const BackendRoster::Entry& entry : roster_.entries()) {
    if (entry.present) watched.push_back(*entry.present);
  }
  changes_.Watch(search_.Directories(watched));
  // Notes changes that this search found and the file watch has not reported,
  // or never will (network file systems).
  for (const BackendRoster::Entry& entry : roster_.entries()) {
    if (!changes_.settling() && HotReload::IsToBeReplaced(entry)) {
      changes_.Note();
    }
  }
}

Result<BackendPointer> Catalog::Find(const DeviceName& device) {
  if (BackendPointer serving = roster_.Serving(device)) return serving;
  if (!search_.looked_everywhere() && search_.IsOwn(device)) {
    Refresh(PluginSearch::Reach::kOwn);
    if (auto found = roster_.Find(device)) return found;
  }
  Refresh();
  auto found = roster_.Find(device);
  if (!found && found.error().code() == Code::kNotFound && search_.unread()) {
    RefreshAll();
    found = roster_.Find(device);
  }
  if (found) return found;
  // With autoload off, the directories were not searched. So the backend may be
  // installed, and kNotFound would be wrong.
  const bool switched_off =
      !search_.autoload() && found.error().code() == Code::kNotFound;
  return switched_off ? Status(Code::kBackendUnavailable,
                               std::move(found).error().message())
                      : std::move(found).error();
}

kj::Promise<Result<std::vector<BackendPointer>>> Catalog::Load(
    const std::string& path, const std::string& entry_point) {
  return search_.Add(path, entry_point)
      .then([this, path](auto added) -> Result<std::vector<BackendPointer>> {
        if (!added) return std::move(added).error();
        return LoadedBy(*added, path);
      });
}

Result<std::vector<BackendPointer>> Catalog::LoadedBy(
    const PluginSearch::Loaded& loaded, const std::string& path) {
  RefreshAll();
  const auto& [load, is_new] = loaded;
  std::vector<BackendPointer> backends;
  Status failure;
  for (size_t i = 0; i < roster_.entries().size(); ++i) {
    const BackendCandidate& candidate = discovery().backends[i];
    if (!load.Chooses(candidate.dist_info, candidate.name(),
                      candidate.plugin_path)) {
      continue;
    }
    backends.push_back(roster_.entries()[i].backend);
    if (!candidate.usable() && failure.ok()) {
      failure = discovery::Unavailable(candidate);
    }
  }
  if (!failure.ok()) return failure;
  if (!backends.empty()) return backends;
  if (is_new) search_.Remove(load);
  const std::string& entry_point = load.entry_point;
  return Status(Code::kNotFound,
                "there is no backend" +
                    (entry_point.empty() ? "" : " " + entry_point) + " in " +
                    path + "; see `bulkhead entry-points --path " +
                    load.directory + "`");
}

kj::Promise<Status> Catalog::NeedSuccessor(unsigned number) {
  return AskPlaces().then([this, number] {
    Refresh();
    return reload_.ReplaceUnlessTried(number);
  });
}

}  // namespace bulkhead::catalog
