// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>

#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/backend/start_services.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::backend {

// Owns a StartContext for tests of backends that never launch a process: it has
// no programs to launch, no grants, and no state directory. Bound to the event
// loop of `port`, which must outlive this object.
class IdleStartContext {
 public:
  explicit IdleStartContext(kj::UnixEventPort& port)
      : services_(port, 0, Configuration(), -1, {}, decoding_) {}
  KJ_DISALLOW_COPY(IdleStartContext);

  const StartContext& context() { return services_.context(); }

 private:
  // Checks nothing: a backend that never starts is never checked.
  class NoCheck final : public DecodingCheck {
   public:
    kj::Promise<Outcome> CheckRunning(const discovery::BackendCandidate&,
                                      const StartContext&,
                                      std::shared_ptr<Incarnation>,
                                      const CountedDevice&) const override {
      return Outcome{};
    }
    kj::Promise<Outcome> CheckAfresh(const discovery::BackendCandidate&,
                                     unsigned, const StartContext&,
                                     const std::string&) const override {
      return Outcome{};
    }
  };

  ipc::schema::Configuration::Reader Configuration() {
    auto configuration = message_.initRoot<ipc::schema::Configuration>();
    configuration.setStartDeadlineMs(60'000);
    configuration.setWorkerDeadlineMs(60'000);
    configuration.setAttemptsPerPosition(3);
    configuration.setFailuresPerBackend(3);
    return configuration.asReader();
  }

  capnp::MallocMessageBuilder message_;
  NoCheck decoding_;
  StartServices services_;
};

}  // namespace bulkhead::backend
