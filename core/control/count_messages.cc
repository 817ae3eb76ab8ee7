// SPDX-License-Identifier: Apache-2.0
#include "core/control/count_messages.h"

#include <algorithm>
#include <iterator>

namespace bulkhead {
namespace {

namespace schema = ipc::schema;

template <typename List>
void WriteAll(const auto& counts, List out) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, counts[i]);
}

}  // namespace

const char* WorkerEndName(WorkerEnd end) {
  static constexpr const char* kNames[] = {
      "deadline", "protocol", "device_lost", "failed", "sandbox",
      "memory",   "killed",   "signal",      "exit",   "unknown"};
  static_assert(std::size(kNames) == kWorkerEnds);
  return kNames[std::min(static_cast<size_t>(end), kWorkerEnds - 1)];
}

void Write(const BackendCounts& counts, schema::BackendCounts::Builder out) {
  out.setBackend(counts.backend);
  out.setStarts(counts.starts);
  out.setQuarantines(counts.quarantines);
  out.setStreams(counts.streams);
  out.setFrames(counts.frames);
  out.setSessionMs(counts.session_time.count());
  WriteAll(counts.worker_ends, out.initWorkerEnds(kWorkerEnds));
  const auto& recoveries = counts.recoveries;
  WriteAll(recoveries.counts,
           out.initRecoveries(static_cast<unsigned>(recoveries.counts.size())));
  out.setRecoveryUs(recoveries.sum.count());
  out.setPoisonedInputs(counts.poisoned_inputs);
  out.setRefusedStreams(counts.refused_streams);
  out.setFailovers(counts.failovers);
  out.setFailedFailovers(counts.failed_failovers);
}

std::optional<BackendCounts> ToBackendCounts(
    schema::BackendCounts::Reader counts_untrusted) {
  const auto ends = counts_untrusted.getWorkerEnds();
  const auto recoveries = counts_untrusted.getRecoveries();
  BackendCounts read;
  if (ends.size() != read.worker_ends.size() ||
      recoveries.size() != read.recoveries.counts.size() ||
      counts_untrusted.getSessionMs() < 0 ||
      counts_untrusted.getRecoveryUs() < 0) {
    return std::nullopt;
  }
  read.backend = counts_untrusted.getBackend().cStr();
  read.starts = counts_untrusted.getStarts();
  read.quarantines = counts_untrusted.getQuarantines();
  read.streams = counts_untrusted.getStreams();
  read.frames = counts_untrusted.getFrames();
  read.session_time =
      std::chrono::milliseconds(counts_untrusted.getSessionMs());
  std::copy(ends.begin(), ends.end(), read.worker_ends.begin());
  std::copy(recoveries.begin(), recoveries.end(),
            read.recoveries.counts.begin());
  read.recoveries.sum =
      std::chrono::microseconds(counts_untrusted.getRecoveryUs());
  read.poisoned_inputs = counts_untrusted.getPoisonedInputs();
  read.refused_streams = counts_untrusted.getRefusedStreams();
  read.failovers = counts_untrusted.getFailovers();
  read.failed_failovers = counts_untrusted.getFailedFailovers();
  return read;
}

}  // namespace bulkhead
