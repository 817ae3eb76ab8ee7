// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/backend_descriptions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/control/capability_messages.h"
#include "core/grants/permissions.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::catalog {
namespace {

namespace schema = ipc::schema;
using discovery::BackendCandidate;

// Bounds the answer. Further diagnostics would say nothing new about a
// directory full of broken packages.
constexpr size_t kMaxDiagnostics = 1000;

schema::Backend::State ToSchema(backend::BackendState state) {
  using Schema = schema::Backend::State;
  switch (state) {
    case backend::BackendState::kDiscovered:
      return Schema::DISCOVERED;
    case backend::BackendState::kStarting:
      return Schema::STARTING;
    case backend::BackendState::kReady:
      return Schema::READY;
    case backend::BackendState::kDraining:
      return Schema::DRAINING;
    case backend::BackendState::kBackingOff:
      return Schema::BACKING_OFF;
    case backend::BackendState::kQuarantined:
      return Schema::QUARANTINED;
    case backend::BackendState::kDisabled:
      break;
  }
  return Schema::DISABLED;
}

void FillTexts(const std::vector<std::string>& texts,
               capnp::List<capnp::Text>::Builder list) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, texts[i]);
}

void Describe(const backend::Backend& backend, const std::string& notice,
              sandbox::Tier tier, Diagnostics& diagnostics,
              schema::Backend::Builder out) {
  const BackendCandidate& candidate = backend.candidate();
  out.setName(candidate.name());
  out.setDistribution(candidate.entry_point.distribution);
  out.setVersion(candidate.entry_point.version);
  out.setFile(backend::ObjectPath(candidate));
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
  out.setIncarnation(backend.lifecycle().incarnations().lives());
  if (const backend::Incarnation* life = backend.lifecycle().latest()) {
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
  const auto granted =
      backend.lifecycle().incarnations().DescribeAccess(diagnostics);
  FillTexts(granted, out.initGranted(static_cast<unsigned>(granted.size())));
}

// Returns all problems, except those with the grants of one backend, which
// Describe() adds.
Diagnostics Problems(const Catalog& catalog,
                     const backend::StartContext& context) {
  Diagnostics found = catalog.discovery().diagnostics;
  const Diagnostics& grants = context.grants.Latest().diagnostics;
  found.insert(found.end(), grants.begin(), grants.end());
  const Diagnostics& quarantine = context.quarantine.diagnostics();
  found.insert(found.end(), quarantine.begin(), quarantine.end());
  if (const auto lost = context.crashes.problem()) found.push_back(*lost);
  if (catalog.watch_problem()) found.push_back(*catalog.watch_problem());
  const auto all = catalog.backends();
  for (const blame::QuarantineRecord& record : context.quarantine.All()) {
    const bool listed =
        std::any_of(all.begin(), all.end(), [&](const BackendPointer& backend) {
          return backend::ObjectPath(backend->candidate()) == record.path;
        });
    if (listed) continue;
    found.push_back({Diagnostic::Severity::kWarning, record.path, 0,
                     "another application has quarantined the backend " +
                         record.backend + ": " + record.reason +
                         "; `bulkhead restart " + record.backend +
                         "` lifts the quarantine"});
  }
  return found;
}

}  // namespace

void DescribeBackends(const Catalog& catalog,
                      const backend::StartContext& context,
                      schema::Backends::Builder out) {
  Diagnostics found = Problems(catalog, context);
  const auto all = catalog.backends();
  auto list = out.initBackends(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    Describe(*all[i], catalog.NoticeOf(*all[i]), context.tier, found, list[i]);
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
  auto places = out.initPlaces(catalog.discovery().places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const discovery::SearchedPlace& place = catalog.discovery().places[i];
    places[i].setPath(place.directory.path);
    places[i].setOrigin(place.directory.origin);
    places[i].setOutcome(place.outcome);
  }
}

}  // namespace bulkhead::catalog
