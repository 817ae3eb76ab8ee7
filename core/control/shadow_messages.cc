// SPDX-License-Identifier: Apache-2.0
#include "core/control/shadow_messages.h"

namespace bulkhead {

namespace schema = ipc::schema;

void Write(const ShadowReport& report, schema::ShadowReport::Builder out) {
  out.setStreams(report.streams);
  out.setFailed(report.failed);
  out.setLastFailure(report.last_failure);
  out.setCompared(report.compared);
  out.setDiffering(report.differing);
  out.setNotCompared(report.not_compared);
  out.setTrials(report.trials);
  out.setFailedTrials(report.failed_trials);
  out.setLastTrial(report.last_trial);
  if (!report.first) return;
  auto first = out.initFirst();
  first.setPath(report.first->path);
  first.setDevice(report.first->device);
  first.setFrame(report.first->frame);
  first.setSeconds(report.first->seconds);
  first.setWords(report.first->words);
  first.setCompared(report.first->compared);
}

ShadowReport ToShadowReport(schema::ShadowReport::Reader report) {
  ShadowReport read{.streams = report.getStreams(),
                    .failed = report.getFailed(),
                    .last_failure = report.getLastFailure().cStr(),
                    .compared = report.getCompared(),
                    .differing = report.getDiffering(),
                    .not_compared = report.getNotCompared(),
                    .first = {},
                    .trials = report.getTrials(),
                    .failed_trials = report.getFailedTrials(),
                    .last_trial = report.getLastTrial().cStr()};
  if (!report.hasFirst()) return read;
  const auto first = report.getFirst();
  read.first = {.path = first.getPath().cStr(),
                .device = first.getDevice().cStr(),
                .frame = first.getFrame(),
                .seconds = first.getSeconds(),
                .words = first.getWords().cStr(),
                .compared = first.getCompared()};
  return read;
}

}  // namespace bulkhead
