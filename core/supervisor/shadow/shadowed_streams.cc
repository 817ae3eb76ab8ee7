// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/shadow/shadowed_streams.h"

#include <utility>

#include "core/base/device_name.h"
#include "core/control/shadow_messages.h"

namespace bulkhead::shadow {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

template <typename List>
void DescribeIn(const auto& known, List backends) {
  for (auto backend : backends) {
    const auto found = known.find(backend.getName().cStr());
    if (found == known.end()) continue;
    Write(found->second.report, backend.initShadow());
  }
}

std::string Frames(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " frame" : " frames");
}

}  // namespace

void ShadowedStreams::Describe(
    capnp::List<schema::Backend>::Builder backends) const {
  DescribeIn(known_, backends);
}

void ShadowedStreams::Describe(
    capnp::List<schema::RunningBackend>::Builder backends) const {
  DescribeIn(known_, backends);
}

uint32_t ShadowedStreams::decoding() const {
  uint32_t count = 0;
  for (const auto& [number, stream] : streams_) {
    count += stream.shadow->decoding() ? 1 : 0;
  }
  return count;
}

std::string ShadowedStreams::ObstacleTo(const Drawn& drawn,
                                        schema::Shadow::Reader request,
                                        bool complete) const {
  const std::string left_out = request.getLeftOut().cStr();
  if (!left_out.empty()) return left_out;
  if (!complete) return "its media did not arrive";
  if (!drawn.backend) return drawn.backend.error().message();
  const auto device = ParseDeviceName(request.getAgainst().cStr());
  if (!device) return device.error().message();
  if (decoding() < kMostAtOnce) return "";
  return std::to_string(kMostAtOnce) + " streams are compared already";
}

void ShadowedStreams::Start(Drawn drawn, schema::Shadow::Reader request,
                            ipc::UniqueFd media, ipc::UniqueFd frames) {
  ++known_[drawn.origin->candidate().name()].report.streams;
  const std::string obstacle = ObstacleTo(drawn, request, media && frames);
  const uint64_t number = next_stream_++;
  if (obstacle.empty()) {
    Stream& stream =
        Add(number, drawn, request, std::move(media), std::move(frames));
    tasks_.add(
        stream.shadow
            ->Run(*std::move(drawn.backend), *ParseDeviceName(stream.against))
            .then([this, number](Status status) { Close(number, status); }));
    return;
  }
  LeaveOut(drawn, obstacle);
  if (!frames) return;
  Stream& stream = Add(number, drawn, request, {}, std::move(frames));
  tasks_.add(
      stream.shadow->CountOnly().then([this, number] { Forget(number); }));
}

ShadowedStreams::Stream& ShadowedStreams::Add(uint64_t number,
                                              const Drawn& drawn,
                                              schema::Shadow::Reader request,
                                              ipc::UniqueFd media,
                                              ipc::UniqueFd frames) {
  const std::string against = request.getAgainst().cStr();
  auto open = std::make_unique<capnp::MallocMessageBuilder>();
  open->setRoot(request.getOpen());
  Stream& stream =
      streams_
          .emplace(number, Stream{.session = drawn.session,
                                  .device = drawn.device,
                                  .path = drawn.path,
                                  .against = against,
                                  .backend = drawn.origin->candidate().name(),
                                  .origin = drawn.origin,
                                  .shadow = nullptr})
          .first->second;
  stream.shadow = std::make_unique<ShadowDecoder>(
      context_.port,
      ShadowDecoder::Settings{
          .against = against,
          .hasher = PictureHasher(request.getKey()),
          .memory = {.private_bytes = request.getWorkerBytes(),
                     .shared_bytes = request.getSharedBytes()},
          .worker_deadline = context_.worker_deadline,
          .step_deadline = milliseconds(request.getStepMs())},
      std::move(open), std::move(media), std::move(frames),
      [this, &stream] { Update(stream); });
  return stream;
}

void ShadowedStreams::Forget(uint64_t number) {
  // Deferred: a promise of the shadow calls this function, and the shadow must
  // outlive its promises.
  tasks_.add(kj::evalLater([this, number] { streams_.erase(number); }));
}

void ShadowedStreams::LeaveOut(const Drawn& drawn, const std::string& why) {
  const std::string& name = drawn.origin->candidate().name();
  ShadowReport& report = known_[name].report;
  ++report.failed;
  report.last_failure = drawn.path + ": " + why;
  context_.events.Add({.kind = Event::Kind::kShadowClosed,
                       .backend = name,
                       .session = drawn.session,
                       .device = drawn.device,
                       .text = drawn.path + ": not compared: " + why});
}

void ShadowedStreams::Update(Stream& stream) {
  const FrameMatcher& matcher = stream.shadow->matcher();
  ShadowReport& report = known_[stream.backend].report;
  const uint64_t in_other_streams = report.compared - stream.compared;
  report.compared += matcher.compared() - stream.compared;
  report.differing += matcher.differing() - stream.differing;
  report.not_compared += matcher.not_compared() - stream.not_compared;
  stream.compared = matcher.compared();
  stream.differing = matcher.differing();
  stream.not_compared = matcher.not_compared();
  if (!matcher.first() || stream.reported) return;
  stream.reported = true;
  if (!report.first) {
    report.first = {.path = stream.path,
                    .device = stream.device,
                    .frame = matcher.first()->frame,
                    .seconds = matcher.first()->seconds,
                    .words = matcher.first()->words,
                    .compared = in_other_streams + matcher.first()->compared};
  }
  ReportFirst(stream, *matcher.first());
  PutOnTrial(stream);
}

void ShadowedStreams::ReportFirst(Stream& stream,
                                  const FrameMatcher::Difference& first) {
  context_.events.Add(
      {.kind = Event::Kind::kShadowDiffers,
       .backend = stream.backend,
       .session = stream.session,
       .device = stream.device,
       .text = stream.path + ", frame " + std::to_string(first.frame) + " at " +
               std::to_string(first.seconds) + " s: " + stream.device +
               " and " + stream.against + " differ in " + first.words +
               "; the file or one of the two can be the cause, `bulkhead "
               "verify` compares them again"});
}

void ShadowedStreams::Close(uint64_t number, const Status& status) {
  Stream& stream = streams_.at(number);
  Update(stream);
  std::string text = stream.path + ": " + Frames(stream.compared) +
                     " compared with " + stream.against + ", " +
                     std::to_string(stream.differing) + " differ, " +
                     std::to_string(stream.not_compared) + " not compared";
  if (!status.ok()) {
    ShadowReport& report = known_[stream.backend].report;
    ++report.failed;
    report.last_failure =
        stream.path + ", on " + stream.against + ": " + status.message();
    text += ", since on " + stream.against + ": " + status.message();
  }
  context_.events.Add({.kind = Event::Kind::kShadowClosed,
                       .backend = stream.backend,
                       .session = stream.session,
                       .device = stream.device,
                       .text = std::move(text)});
  Forget(number);
}

void ShadowedStreams::PutOnTrial(const Stream& stream) {
  const std::shared_ptr<backend::Backend> origin = stream.origin.lock();
  Known& known = known_[stream.backend];
  // A backend that was replaced meanwhile serves no new stream, so a trial of
  // it would be of no use.
  if (!origin || known.on_trial) return;
  known.on_trial = true;
  const std::string charge =
      "its pictures differed from those of " + stream.against;
  tasks_.add(origin->lifecycle()
                 .blame()
                 .Try(charge)
                 .then([this, name = stream.backend, charge,
                        &backend = *origin](const blame::Blame::Trial& trial) {
                   NoteTrial(name, charge, trial, backend.lifecycle().reason());
                 })
                 .attach(std::shared_ptr<backend::Backend>(origin)));
}

void ShadowedStreams::NoteTrial(const std::string& backend,
                                const std::string& charge,
                                const blame::Blame::Trial& trial,
                                const std::string& unchecked) {
  Known& known = known_[backend];
  known.on_trial = false;
  const bool failed = trial.held && !trial.failure.ok();
  const bool passed = trial.held && !failed && unchecked.empty();
  std::string& outcome = known.report.last_trial;
  outcome = charge + ": ";
  if (!trial.held) {
    outcome += "not tried, since " + trial.failure.message();
  } else if (failed) {
    outcome += "failed the trial: " + trial.failure.message();
  } else if (!passed) {
    outcome += "it goes on, but " + unchecked;
  } else {
    outcome += "passed the trial, so it goes on";
  }
  known.report.trials += trial.held ? 1 : 0;
  known.report.failed_trials += failed ? 1 : 0;
  context_.events.Add({.kind = Event::Kind::kTrial,
                       .backend = backend,
                       .state = failed   ? "failed"
                                : passed ? "passed"
                                         : "undecided",
                       .text = outcome});
}

}  // namespace bulkhead::shadow
