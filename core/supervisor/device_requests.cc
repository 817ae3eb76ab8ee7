// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/device_requests.h"

#include <capnp/message.h>

#include <utility>

#include "core/base/device_name.h"
#include "core/base/status_macros.h"
#include "core/control/capability_messages.h"
#include "core/supervisor/sockets/replies.h"

namespace bulkhead::supervisor {

namespace schema = ipc::schema;

Result<catalog::BackendPointer> DeviceRequests::Find(
    const std::string& device) {
  ASSIGN_OR_RETURN(const DeviceName name, ParseDeviceName(device));
  const auto found = catalog_.Find(name);
  // Without spare descriptors a search finds no file and no backend can start,
  // so the message should name this cause.
  if (!found || !(*found)->lifecycle().serving()) {
    RETURN_IF_ERROR(sandbox_.CheckSpareFiles());
  }
  if (!found) return found.error();
  const catalog::BackendPointer& backend = *found;
  RETURN_IF_ERROR(sandbox_.Ensure());
  return backend;
}

kj::Promise<void> DeviceRequests::Prepare(sockets::EventSocket& connection,
                                          const std::string& device) {
  auto backend = Find(device);
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  return (*backend)
      ->Prepare(*ParseDeviceName(device))
      .then([&connection](Status status) {
        sockets::Acknowledge(connection, status);
      })
      .attach(catalog::BackendPointer(*backend));
}

kj::Promise<void> DeviceRequests::Load(sockets::EventSocket& connection,
                                       const std::string& path,
                                       const std::string& entry_point) {
  return catalog_.Load(path, entry_point)
      .then([this, &connection](auto backends) -> kj::Promise<void> {
        const Status usable = backends ? sandbox_.Ensure() : backends.error();
        if (usable.ok()) return StartLoaded(connection, *std::move(backends));
        Fail(connection, usable);
        return kj::READY_NOW;
      });
}

kj::Promise<void> DeviceRequests::StartLoaded(
    sockets::EventSocket& connection,
    std::vector<catalog::BackendPointer> backends) {
  auto starts = kj::heapArrayBuilder<kj::Promise<Status>>(backends.size());
  for (const catalog::BackendPointer& backend : backends) {
    starts.add(backend->lifecycle().EnsureReady());
  }
  return kj::joinPromises(starts.finish())
      .then([&connection,
             backends = std::move(backends)](kj::Array<Status> statuses) {
        for (const Status& status : statuses) {
          if (!status.ok()) return Fail(connection, status);
        }
        size_t count = 0;
        for (const auto& backend : backends) count += backend->devices().size();
        capnp::MallocMessageBuilder answer;
        auto loaded = answer.initRoot<schema::HostReply>().initLoaded(count);
        unsigned next = 0;
        for (const auto& backend : backends) {
          for (const auto& device : backend->devices()) {
            auto entry = loaded[next++];
            entry.setName(device.name);
            entry.setDescription(device.description);
            entry.setBackend(backend->candidate().name());
            Write(device.capabilities, entry.initCapabilities());
          }
        }
        Send(connection, answer);
      });
}

kj::Promise<void> DeviceRequests::LoadAgain(
    schema::Configuration::Reader configuration) {
  kj::Promise<void> loaded = kj::READY_NOW;
  for (const auto load : configuration.getLoads()) {
    // The result is ignored: the first bulkheadd that loaded this has already
    // answered the application.
    loaded = loaded.then([this, path = std::string(load.getPath().cStr()),
                          name = std::string(load.getEntryPoint().cStr())] {
      return catalog_.Load(path, name).ignoreResult();
    });
  }
  if (!configuration.getEager()) return loaded;
  return loaded.then([this] {
    tasks_.add(catalog_.LookEverywhere().then([this] { StartAll(); }));
  });
}

void DeviceRequests::StartAll() {
  if (!sandbox_.Ensure().ok()) return;
  for (const catalog::BackendPointer& backend : catalog_.Usable()) {
    tasks_.add(backend->lifecycle().EnsureReady().ignoreResult().attach(
        catalog::BackendPointer(backend)));
  }
}

}  // namespace bulkhead::supervisor
