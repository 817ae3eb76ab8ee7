// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/include/bulkhead/shadow.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/shadow/shadow_decoder.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::shadow {

// The streams of this application that have a shadow (HostOptions::shadow).
// Owns their decoders (shadow_decoder.h), the reports of what these found about
// each backend, and the trials that follow.
//
// The first difference in a stream puts the stream's backend on trial: the
// health check of a reload, twice if it fails the first time. A failed trial
// counts as a failure of the backend (Blame::Try), a difference never does,
// since the file can be its cause. One trial of a backend runs at a time.
//
// Owned by ApplicationRequests. Bound to the event loop's thread.
class ShadowedStreams : private kj::TaskSet::ErrorHandler {
 public:
  // Further streams have no shadow.
  static constexpr uint32_t kMostAtOnce = 16;

  // A stream that was drawn. `origin` is its own backend.
  struct Drawn {
    uint64_t session;
    std::string device;  // of the stream
    std::string path;
    std::shared_ptr<backend::Backend> origin;
    // The backend of the device `against`, or why there is none.
    Result<std::shared_ptr<backend::Backend>> backend;
  };

  // `context` must outlive this object.
  explicit ShadowedStreams(const backend::StartContext& context)
      : context_(context), tasks_(*this) {}

  // Begins to compare a stream, or to count its frames, if it is left out.
  // `media` may be invalid if the request says why that is.
  void Start(Drawn drawn, ipc::schema::Shadow::Reader request,
             ipc::UniqueFd media, ipc::UniqueFd frames);
  // Writes the reports into descriptions of backends, which name them.
  void Describe(capnp::List<ipc::schema::Backend>::Builder backends) const;
  void Describe(
      capnp::List<ipc::schema::RunningBackend>::Builder backends) const;

 private:
  // A stream that is compared, or whose frames are counted. What its matcher
  // had counted when it was last added to the report.
  struct Stream {
    uint64_t session;
    std::string device;
    std::string path;
    std::string against;
    std::string backend;
    std::weak_ptr<backend::Backend> origin;
    std::unique_ptr<ShadowDecoder> shadow;
    uint64_t compared = 0;
    uint64_t differing = 0;
    uint64_t not_compared = 0;
    bool told = false;  // of the first difference
  };
  struct Known {
    ShadowReport report;
    bool on_trial = false;
  };

  uint32_t decoding() const;
  // Adds what the stream's matcher has counted since the last call.
  void Update(Stream& stream);
  void TellFirst(Stream& stream, const FrameMatcher::Difference& first);
  void Close(uint64_t number, const Status& status);
  Stream& Add(uint64_t number, const Drawn& drawn,
              ipc::schema::Shadow::Reader request, ipc::UniqueFd media,
              ipc::UniqueFd frames);
  void LeaveOut(const Drawn& drawn, const std::string& why);
  void Forget(uint64_t number);
  void PutOnTrial(const Stream& stream);
  void taskFailed(kj::Exception&&) override {}

  const backend::StartContext& context_;
  std::map<std::string, Known> known_;  // keyed by the backend's name
  std::map<uint64_t, Stream> streams_;
  uint64_t next_stream_ = 0;
  // Last member, and destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::shadow
