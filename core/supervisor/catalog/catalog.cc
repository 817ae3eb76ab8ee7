// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "core/control/capability_messages.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/reserved_names.h"
#include "core/grants/permissions.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/supervisor/files/first_read.h"
#include "core/supervisor/files/remote_places.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using discovery::BackendCandidate;

// More diagnostics than this say nothing new about a directory full of broken
// packages.
constexpr size_t kMaxDiagnostics = 1000;
// How many searches one request may make, each of which reads other folders.
constexpr int kMostLooks = 4;

schema::Backend::State ToSchema(BackendState state) {
  using Schema = schema::Backend::State;
  switch (state) {
    case BackendState::kDiscovered:
      return Schema::DISCOVERED;
    case BackendState::kStarting:
      return Schema::STARTING;
    case BackendState::kReady:
      return Schema::READY;
    case BackendState::kDraining:
      return Schema::DRAINING;
    case BackendState::kBackingOff:
      return Schema::BACKING_OFF;
    case BackendState::kQuarantined:
      return Schema::QUARANTINED;
    case BackendState::kDisabled:
      break;
  }
  return Schema::DISABLED;
}

// Returns whether both are the same backend of the same distribution, perhaps
// in different versions.
bool IsSameBackend(const BackendCandidate& a, const BackendCandidate& b) {
  return a.name() == b.name() &&
         (a.entry_point.file == b.entry_point.file ||
          (a.directory == b.directory &&
           a.entry_point.distribution == b.entry_point.distribution));
}

void FillTexts(const std::vector<std::string>& texts,
               capnp::List<capnp::Text>::Builder list) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, texts[i]);
}

void Describe(const Backend& backend, const std::string& notice,
              sandbox::Tier tier, Diagnostics& diagnostics,
              schema::Backend::Builder out) {
  const BackendCandidate& candidate = backend.candidate();
  out.setName(candidate.name());
  out.setDistribution(candidate.entry_point.distribution);
  out.setVersion(candidate.entry_point.version);
  out.setFile(ObjectPath(candidate));
  const std::string recorded = backend.lifecycle().RecordedQuarantine();
  out.setState(recorded.empty() ? ToSchema(backend.lifecycle().state())
                                : schema::Backend::State::QUARANTINED);
  const std::string& reason =
      recorded.empty() ? backend.lifecycle().reason() : recorded;
  out.setReason(reason.empty() ? notice : reason);
  const auto known = backend.devices();
  auto devices = out.initDevices(known.size());
  for (size_t i = 0; i < known.size(); ++i) {
    devices[i].setName(known[i].name);
    devices[i].setDescription(known[i].description);
    devices[i].setBackend(candidate.name());
    Write(known[i].capabilities, devices[i].initCapabilities());
  }
  out.setStartsByExec(candidate.start == discovery::Manifest::Start::kExec);
  out.setStartReason(candidate.start_rule);
  out.setTier(static_cast<schema::Tier>(tier));
  out.setIncarnation(backend.lifecycle().lives());
  if (const Incarnation* life = backend.lifecycle().latest()) {
    out.setZygotePid(life->zygote_pid());
    out.setReaperPid(life->reaper_alive() ? life->reaper_pid() : 0);
  }
  const auto pids = backend.session_pids();
  auto session_pids = out.initSessionPids(pids.size());
  for (size_t i = 0; i < pids.size(); ++i) session_pids.set(i, pids[i]);
  const auto asked = ToTexts(candidate.manifest.permissions);
  FillTexts(asked, out.initAsked(static_cast<unsigned>(asked.size())));
  std::vector<std::string> streams;
  for (const discovery::StreamKind kind : candidate.manifest.streams) {
    streams.push_back(kind == discovery::StreamKind::kAudio ? "audio"
                                                            : "video");
  }
  FillTexts(streams, out.initStreams(static_cast<unsigned>(streams.size())));
  const auto granted = backend.lifecycle().DescribeAccess(diagnostics);
  FillTexts(granted, out.initGranted(static_cast<unsigned>(granted.size())));
}

}  // namespace

Catalog::Catalog(std::vector<discovery::SearchDirectory> plugin_path,
                 discovery::Selection selection, const StartContext& context)
    : plugin_path_(std::move(plugin_path)),
      selection_(std::move(selection)),
      context_(context),
      cache_({.group = std::string(discovery::kBackendGroup)}),
      watch_(context.port),
      tasks_(*this) {
  Refresh(Reach::kOwn);
  tasks_.add(AwaitChanges());
}

void Catalog::RefreshAll() {
  Refresh();
  for (int more = 1; more < kMostLooks && cache_.unread() > 0; ++more) {
    Refresh();
  }
}

kj::Promise<void> Catalog::LookEverywhere() {
  if (looked_everywhere_) return kj::READY_NOW;
  return AskPlaces().then([this] { Refresh(); });
}

bool Catalog::IsWanted(const discovery::SearchDirectory& directory) const {
  return directory.built_in || selection_.autoload ||
         std::ranges::any_of(loads_, [&](const auto& load) {
           return load.directory == directory.path;
         });
}

kj::Promise<void> Catalog::AskPlaces() {
  std::set<std::string> wanted;
  for (const discovery::SearchDirectory& directory : plugin_path_) {
    if (IsWanted(directory) && !directory.built_in) {
      wanted.insert(directory.path);
    }
  }
  for (const discovery::ExplicitLoad& load : loads_) {
    wanted.insert(load.directory);
  }
  auto answers = kj::heapArrayBuilder<kj::Promise<void>>(wanted.size());
  for (const std::string& path : wanted) {
    const auto read = [&] {
      discovery::ScanCache cache(
          {.group = std::string(discovery::kBackendGroup)});
      discovery::Discover(*cache.Rescan({{path, ""}}), selection_, loads_, {});
    };
    answers.add(context_.places.Ask(path, read).ignoreResult());
  }
  return kj::joinPromises(answers.finish());
}

kj::Promise<void> Catalog::AskPlaces(const discovery::DeviceName& device) {
  const bool nearby = Serving(device) || (!looked_everywhere_ && IsOwn(device));
  return nearby ? kj::Promise<void>(kj::READY_NOW) : AskPlaces();
}

Catalog::BackendPointer Catalog::Serving(
    const discovery::DeviceName& device) const {
  const auto found = discovery::FindBackend(discovery_, device);
  if (!found) return nullptr;
  BackendPointer backend = BackendOf(*found);
  return backend->lifecycle().serving() ? backend : nullptr;
}

bool Catalog::IsOwn(const discovery::DeviceName& device) const {
  const auto& grants = context_.grants.Latest().grants;
  const bool taken =
      std::any_of(grants.begin(), grants.end(),
                  [](const auto& grant) { return grant.reserved_name; });
  return !taken && (device.backend.empty()
                        ? device.name == discovery::kReservedDevice
                        : discovery::IsReservedBackend(device.backend));
}

void Catalog::Refresh(Reach reach) {
  looked_everywhere_ |= reach == Reach::kEverywhere;
  std::vector<discovery::SearchDirectory> searched;
  std::vector<discovery::SearchedPlace> unsearched;
  silent_.clear();
  for (const discovery::SearchDirectory& directory : plugin_path_) {
    const bool wanted = IsWanted(directory) &&
                        (directory.built_in || reach == Reach::kEverywhere);
    const bool answers =
        directory.built_in || context_.places.Answered(directory.path);
    if (wanted && answers) {
      searched.push_back(directory);
      continue;
    }
    if (!answers) silent_.insert(directory.path);
    if (wanted) {
      unsearched.push_back(
          {.directory = directory,
           .outcome = "does not answer; another program or machine serves its "
                      "file system"});
    } else {
      unsearched.push_back({.directory = directory,
                            .outcome = selection_.autoload
                                           ? "not searched yet"
                                           : "not searched, since autoload is "
                                             "off (" +
                                                 selection_.autoload_rule +
                                                 "=0)"});
    }
  }
  std::vector<discovery::ExplicitLoad> loads;
  for (const discovery::ExplicitLoad& load : loads_) {
    if (context_.places.Answered(load.directory)) {
      loads.push_back(load);
    } else {
      silent_.insert(load.directory);
    }
  }
  discovery::Discovery latest =
      discovery::Discover(*cache_.Rescan(searched), selection_, loads,
                          context_.grants.Latest().grants);
  latest.places.insert(latest.places.end(), unsearched.begin(),
                       unsearched.end());
  std::vector<BackendPointer> backends;
  present_.clear();
  const auto take = [&](const BackendCandidate& candidate) {
    const auto known = std::find_if(
        backends_.begin(), backends_.end(), [&](const BackendPointer& other) {
          return other && IsSameBackend(other->candidate(), candidate);
        });
    return known == backends_.end() ? nullptr : std::move(*known);
  };
  for (BackendCandidate& candidate : latest.backends) {
    BackendPointer known = take(candidate);
    // Before the old backend changes its state.
    const bool disabled = known && known->lifecycle().disabled();
    if (known && (known->candidate() == candidate ||
                  !known->lifecycle().FilesChanged())) {
      present_.emplace(known.get(), candidate);
      candidate = known->candidate();
    } else {
      if (known) Drain(std::move(known));
      known = MakeBackend(candidate);
      present_.emplace(known.get(), candidate);
      if (disabled || context_.disabled.Contains(candidate.name())) {
        known->lifecycle().Disable();
      }
    }
    backends.push_back(std::move(known));
  }
  for (BackendPointer& removed : backends_) {
    if (!removed) continue;
    const bool silent = silent_.contains(removed->candidate().directory);
    if (!silent && removed->lifecycle().FilesChanged()) {
      Drain(std::move(removed));
      continue;
    }
    if (silent) present_.emplace(removed.get(), removed->candidate());
    latest.backends.push_back(removed->candidate());
    backends.push_back(std::move(removed));
  }
  backends_ = std::move(backends);
  discovery_ = std::move(latest);
  WatchFiles();
  // The file watch may not tell of these changes, or may not have told yet.
  for (const BackendPointer& backend : backends_) {
    if (!settling_ && IsToBeReplaced(*backend)) NoteChange();
  }
}

Catalog::BackendPointer Catalog::BackendOf(
    const BackendCandidate* candidate) const {
  return backends_[static_cast<size_t>(candidate - discovery_.backends.data())];
}

Result<Catalog::BackendPointer> Catalog::Find(
    const discovery::DeviceName& device) {
  if (BackendPointer serving = Serving(device)) return serving;
  if (!looked_everywhere_ && IsOwn(device)) {
    Refresh(Reach::kOwn);
    if (const auto found = discovery::FindBackend(discovery_, device)) {
      return BackendOf(*found);
    }
  }
  Refresh();
  const auto find = [&] {
    return discovery::FindBackend(
        discovery_, device, [this](const BackendCandidate& candidate) {
          return BackendOf(&candidate)->lifecycle().reason();
        });
  };
  auto found = find();
  if (!found && found.error().code() == Code::kNotFound &&
      cache_.unread() > 0) {
    RefreshAll();
    found = find();
  }
  if (found) return BackendOf(*found);
  // What is installed there is unknown, so it may well be there.
  const bool switched_off =
      !selection_.autoload && found.error().code() == Code::kNotFound;
  return switched_off ? Status(Code::kBackendUnavailable,
                               std::move(found).error().message())
                      : std::move(found).error();
}

kj::Promise<Result<std::vector<Catalog::BackendPointer>>> Catalog::Load(
    const std::string& path, const std::string& entry_point) {
  using Loaded = Result<std::vector<BackendPointer>>;
  const auto read = [&] {
    (void)discovery::ResolveExplicitLoad(path, entry_point);
  };
  return context_.places.Ask(path, read)
      .then([this, path, entry_point](bool answers) -> kj::Promise<Loaded> {
        if (!answers) return Loaded(DoesNotAnswer(path));
        const auto load = discovery::ResolveExplicitLoad(path, entry_point);
        if (!load) return Loaded(load.error());
        const bool is_new =
            std::find(loads_.begin(), loads_.end(), *load) == loads_.end();
        if (is_new) loads_.push_back(*load);
        return AskPlaces().then([this, load = *load, is_new, path]() -> Loaded {
          if (!context_.places.Answered(load.directory)) {
            return DoesNotAnswer(load.directory);
          }
          return Load(load, is_new, path);
        });
      });
}

Result<std::vector<Catalog::BackendPointer>> Catalog::Load(
    const discovery::ExplicitLoad& load, bool is_new, const std::string& path) {
  RefreshAll();
  std::vector<BackendPointer> loaded;
  Status failure;
  for (size_t i = 0; i < backends_.size(); ++i) {
    const BackendCandidate& candidate = discovery_.backends[i];
    if (!load.Means(candidate.dist_info, candidate.name(),
                    candidate.plugin_path))
      continue;
    loaded.push_back(backends_[i]);
    if (!candidate.usable() && failure.ok()) {
      failure = discovery::Unavailable(candidate);
    }
  }
  if (!failure.ok()) return failure;
  if (!loaded.empty()) return loaded;
  if (is_new) std::erase(loads_, load);
  const std::string& entry_point = load.entry_point;
  return Status(Code::kNotFound,
                "there is no backend" +
                    (entry_point.empty() ? "" : " " + entry_point) + " in " +
                    path + "; see `bulkhead entry-points --path " +
                    load.directory + "`");
}

Result<Catalog::BackendPointer> Catalog::Named(const std::string& name) const {
  BackendPointer found;
  std::string names;
  for (const BackendPointer& backend : backends_) {
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

kj::Promise<Status> Catalog::Command(const std::string& name,
                                     schema::BackendCommand::Action action) {
  return AskPlaces().then([this, name, action] {
    RefreshAll();
    return CommandNamed(name, action);
  });
}

kj::Promise<Status> Catalog::CommandNamed(
    const std::string& name, schema::BackendCommand::Action action) {
  auto named = Named(name);
  // A quarantine may be that of a backend which only another application finds.
  const bool lifted = action == schema::BackendCommand::Action::RESTART &&
                      context_.quarantine.LiftNamed(name);
  if (!named) return lifted ? Status() : named.error();
  const BackendPointer& backend = *named;
  switch (action) {
    case schema::BackendCommand::Action::RESTART:
      return backend->lifecycle().Restart().then(
          [lifted](Status restarted) { return lifted ? Status() : restarted; });
    case schema::BackendCommand::Action::RELOAD:
      return Reload(backend);
    case schema::BackendCommand::Action::DISABLE:
      return Disable(*backend);
    case schema::BackendCommand::Action::ENABLE:
      return Enable(*backend);
  }
  return Status(Code::kUnsupported, "bulkheadd does not know this command");
}

kj::Promise<Status> Catalog::Disable(Backend& backend) {
  const Status kept = context_.disabled.Add(backend.candidate().name());
  return backend.lifecycle().Disable().then([kept](Status disabled) {
    if (!disabled.ok() || kept.ok()) return disabled;
    return Status(kept.code(),
                  "it is disabled in this application only, and only until "
                  "its bulkheadd ends: " +
                      kept.message());
  });
}

kj::Promise<Status> Catalog::Enable(Backend& backend) {
  const Status lifted = context_.disabled.Remove(backend.candidate().name());
  return backend.lifecycle().Enable().then(
      [lifted](Status enabled) { return enabled.ok() ? lifted : enabled; });
}

kj::Promise<Status> Catalog::Reload(BackendPointer backend) {
  return backend->lifecycle()
      .Reload()
      .then([this](Status reloaded) -> kj::Promise<Status> {
        if (!reloaded.ok()) return reloaded;
        // What a start that was joined has loaded may be outdated already.
        return AskPlaces().then([this] {
          Refresh();
          return Status();
        });
      })
      .attach(BackendPointer(backend));
}

std::vector<Catalog::BackendPointer> Catalog::Usable() const {
  std::vector<BackendPointer> usable;
  for (const BackendPointer& backend : backends_) {
    if (backend->candidate().usable()) usable.push_back(backend);
  }
  return usable;
}

Status Catalog::CheckDecodes(const Backend& backend,
                             discovery::StreamKind kind) const {
  const auto decodes = [kind](const Backend& candidate) {
    return candidate.candidate().manifest.streams.count(kind) > 0;
  };
  if (decodes(backend)) return Status();
  std::string able;
  for (const BackendPointer& other : Usable()) {
    if (!decodes(*other)) continue;
    for (const auto& device : other->devices()) {
      able += (able.empty() ? "" : ", ") + device.name;
    }
  }
  const std::string words = discovery::NameOf(kind);
  return Status(Code::kUnsupported,
                "backend " + backend.candidate().name() + " does not decode " +
                    words + "; " +
                    (able.empty() ? "no backend that is installed does"
                                  : "devices that do: " + able));
}

std::string Catalog::DescriberFor(const Backend& backend) const {
  if (backend.lifecycle().serving()) return "";
  const auto devices = backend.devices();
  const bool tells = std::any_of(devices.begin(), devices.end(),
                                 [](const DescribedDevice& device) {
                                   return !device.capabilities.streams.empty();
                                 });
  if (!tells) return "";
  std::string describer;
  for (const BackendPointer& other : Usable()) {
    const auto offered = other->devices();
    if (!other->candidate().built_in || other->lifecycle().disabled() ||
        other.get() == &backend || offered.empty()) {
      continue;
    }
    if (other->lifecycle().serving()) return offered.front().name;
    if (describer.empty()) describer = offered.front().name;
  }
  return describer;
}

Catalog::BackendPointer Catalog::OfSession(uint64_t session) const {
  for (const BackendPointer& backend : backends()) {
    if (backend->HasSession(session)) return backend;
  }
  return nullptr;
}

void Catalog::Describe(sandbox::Tier tier, schema::Backends::Builder out) {
  RefreshAll();
  Diagnostics found = discovery_.diagnostics;
  const Diagnostics& grants = context_.grants.Latest().diagnostics;
  found.insert(found.end(), grants.begin(), grants.end());
  const Diagnostics& quarantine = context_.quarantine.diagnostics();
  found.insert(found.end(), quarantine.begin(), quarantine.end());
  if (const auto lost = context_.crashes.problem()) found.push_back(*lost);
  if (watch_.problem()) found.push_back(*watch_.problem());
  const auto all = backends();
  for (const QuarantineRecord& record : context_.quarantine.All()) {
    const bool listed =
        std::any_of(all.begin(), all.end(), [&](const BackendPointer& backend) {
          return ObjectPath(backend->candidate()) == record.path;
        });
    if (listed) continue;
    found.push_back({Diagnostic::Severity::kWarning, record.path, 0,
                     "another application has quarantined the backend " +
                         record.backend + ": " + record.reason +
                         "; `bulkhead restart " + record.backend +
                         "` lifts the quarantine"});
  }
  auto list = out.initBackends(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    supervisor::Describe(*all[i], NoticeOf(*all[i]), tier, found, list[i]);
  }
  auto diagnostics =
      out.initDiagnostics(std::min(found.size(), kMaxDiagnostics));
  for (size_t i = 0; i < diagnostics.size(); ++i) {
    diagnostics[i].setSeverity(
        static_cast<schema::Diagnostic::Severity>(found[i].severity));
    diagnostics[i].setFile(found[i].file);
    diagnostics[i].setLine(found[i].line);
    diagnostics[i].setMessage(found[i].message);
  }
  auto places = out.initPlaces(discovery_.places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const discovery::SearchedPlace& place = discovery_.places[i];
    places[i].setPath(place.directory.path);
    places[i].setOrigin(place.directory.origin);
    places[i].setOutcome(place.outcome);
  }
}

}  // namespace bulkhead::supervisor
