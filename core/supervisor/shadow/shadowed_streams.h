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
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/shadow/shadow_decoder.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::shadow {

// The streams of this application that were drawn at random for a comparison
// with another device (HostOptions::shadow). Owns the shadow of each stream
// (shadow_decoder.h) and a report for each backend, and starts trials.
//
// The first difference in a stream puts the stream's backend on trial: the
// backend decodes known clips, as in the health check of a reload, and again if
// the first check fails. Failing twice counts as a failure of the backend
// (Blame::Try). A difference alone does not count, since the file can be its
// cause. One trial of a backend runs at a time.
//
// Owned by ApplicationRequests. Bound to the event loop's thread.
class ShadowedStreams : private kj::TaskSet::ErrorHandler {
 public:
  // The most streams that are compared at a time. The frames of further streams
  // are only counted.
  static constexpr uint32_t kMostAtOnce = 16;

  // A stream that was drawn. `origin` is the backend that serves it.
  struct Drawn {
    uint64_t session;
    std::string device;  // of the stream
    std::string path;
    std::shared_ptr<backend::Backend> origin;
    // The backend of the shadow's device, or why there is none.
    Result<std::shared_ptr<backend::Backend>> backend;
  };

  // `context` must outlive this object.
  explicit ShadowedStreams(const backend::StartContext& context)
      : context_(context), tasks_(*this) {}

  // Begins to compare a stream. If that is impossible, counts its frames as not
  // compared. `media` may be empty if the request says why the stream is left
  // out. `frames` is the socket on which the application sends hashes.
  void Start(Drawn drawn, ipc::schema::Shadow::Reader request,
             ipc::UniqueFd media, ipc::UniqueFd frames);
  // Write the report of each backend into its description.
  void Describe(capnp::List<ipc::schema::Backend>::Builder backends) const;
  void Describe(
      capnp::List<ipc::schema::RunningBackend>::Builder backends) const;

 private:
  // A stream that is compared, or whose frames are only counted.
  struct Stream {
    uint64_t session;
    std::string device;
    std::string path;
    std::string against;                     // the device of the shadow
    std::string backend;                     // the name of `origin`
    std::weak_ptr<backend::Backend> origin;  // the backend of `device`
    std::unique_ptr<ShadowDecoder> shadow;
    // The matcher's counts at the last Update().
    uint64_t compared = 0;
    uint64_t differing = 0;
    uint64_t not_compared = 0;
    bool reported = false;  // true once the first difference was reported
  };
  // The report of one backend.
  struct Known {
    ShadowReport report;
    bool on_trial = false;
  };

  // Returns the number of shadows that have or will have a worker.
  uint32_t decoding() const;
  // Returns why a stream cannot be compared, or an empty string. `complete`
  // says whether its media and its socket have arrived.
  std::string ObstacleTo(const Drawn& drawn,
                         ipc::schema::Shadow::Reader request,
                         bool complete) const;
  // Adds the matcher's counts since the last call to the backend's report.
  void Update(Stream& stream);
  // Adds the first difference of a stream to the event log.
  void ReportFirst(Stream& stream, const FrameMatcher::Difference& first);
  // Reports the end of a stream that was compared, and forgets the stream.
  void Close(uint64_t number, const Status& status);
  // Makes the stream's entry in streams_, with a shadow that does not run yet.
  Stream& Add(uint64_t number, const Drawn& drawn,
              ipc::schema::Shadow::Reader request, ipc::UniqueFd media,
              ipc::UniqueFd frames);
  // Reports that the stream is not compared.
  void LeaveOut(const Drawn& drawn, const std::string& why);
  // Removes the stream once the promise that calls this has resolved.
  void Forget(uint64_t number);
  // Puts the stream's backend on trial, if it is not on trial already.
  void PutOnTrial(const Stream& stream);
  // Reports the outcome of a trial. `unchecked` says what the trial left out.
  void NoteTrial(const std::string& backend, const std::string& charge,
                 const blame::Blame::Trial& trial,
                 const std::string& unchecked);
  void taskFailed(kj::Exception&&) override {}

  const backend::StartContext& context_;
  std::map<std::string, Known> known_;  // keyed by the backend's name
  std::map<uint64_t, Stream> streams_;
  uint64_t next_stream_ = 0;  // the key of the next entry in streams_
  // Last member, so that it is destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::shadow
