// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/offered_sandbox.h"

#include <algorithm>
#include <utility>

#include "core/base/application_limits.h"
#include "core/supervisor/open_file_limit.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

// The number of files that a launch opens besides the paths that it shows in
// the sandbox: programs, sockets, files of the distribution.
constexpr size_t kFilesOfALaunch = 24;

sandbox::SandboxReport WithoutDescriptors() {
  const std::string evidence = "too few descriptors are free to try it";
  sandbox::SandboxReport report;
  report.gaps = {{.missing = "the whole sandbox",
                  .evidence = evidence,
                  .remedy = "raise the hard limit on open files (ulimit -Hn)",
                  .cost = "no backend starts"}};
  report.exhausted = Status(Code::kResourceExhausted, evidence);
  return report;
}

Status CannotTry(const Status& exhausted) {
  if (exhausted.code() == Code::kDeadlineExceeded) {
    return exhausted.WithContext(
        "cannot find out what sandbox this machine offers");
  }
  const std::string low = LowLimits();
  return Status(
      Code::kResourceExhausted,
      "cannot find out what sandbox this machine offers: " +
          exhausted.message() + "; " +
          (low.empty()
               ? "raise the hard limit on open files (ulimit -Hn) or on "
                 "processes "
                 "(ulimit -u), whichever ran out, and start the application "
                 "again"
               : RaiseTheLimits(low)));
}

}  // namespace

OfferedSandbox::OfferedSandbox(backend::StartContext& context,
                               sandbox::Requirements requirements,
                               std::string cgroup)
    : context_(context),
      requirements_(requirements),
      cgroup_(std::move(cgroup)) {}

Status OfferedSandbox::CheckSpareFiles() const {
  // In a sandbox of tier full each path is mounted from a descriptor of its
  // own.
  const auto shown = sandbox::MakePolicy(sandbox::Plugin(), {});
  size_t needed = kFilesOfALaunch;
  if (shown) {
    needed += static_cast<size_t>(std::count_if(
        shown->visible.begin(), shown->visible.end(), [](const auto& path) {
          return path.kind != sandbox::VisiblePath::Kind::kSymlink;
        }));
  }
  if (CanOpen(needed)) return Status();
  return TooFewFiles("find and start a backend, which takes " +
                     std::to_string(needed));
}

Status OfferedSandbox::Ensure() {
  if (!report_ || !report_->exhausted.ok()) {
    // A probe that runs out of descriptors would report gaps that the machine
    // does not have.
    if (Status spare = CheckSpareFiles(); !spare.ok()) {
      // Describe() needs a report in any case.
      if (!report_) report_ = WithoutDescriptors();
      return spare;
    }
    report_ = sandbox::ProbeSandbox(
        ipc::Deadline::After(context_.start_deadline), cgroup_);
    context_.tier = report_->tier;
    context_.own_uid = report_->own_uid;
    context_.forbidden = report_->forbidden;
    context_.reads_memory = report_->reads_memory;
    context_.cgroup = report_->cgroup;
  }
  // A probe that lacked resources may report gaps that the machine does not
  // have, so they are not compared with the requirements.
  if (!report_->exhausted.ok()) return CannotTry(report_->exhausted);
  return sandbox::CheckRequirements(requirements_, *report_);
}

void OfferedSandbox::Describe(schema::SandboxReport::Builder out) const {
  out.setTier(static_cast<schema::Tier>(report_->tier));
  auto gaps = out.initGaps(report_->gaps.size());
  for (size_t i = 0; i < report_->gaps.size(); ++i) {
    const sandbox::SandboxGap& gap = report_->gaps[i];
    gaps[i].setMissing(gap.missing);
    gaps[i].setEvidence(gap.evidence);
    gaps[i].setRemedy(gap.remedy);
    gaps[i].setCost(gap.cost);
  }
  out.setLandlockAbi(report_->landlock_abi);
  out.setOwnUid(report_->own_uid);
  const sandbox::CgroupParent& cgroup = report_->cgroup;
  out.setCgroup(cgroup.directory);
  auto controllers = out.initCgroupControllers(cgroup.controllers.size());
  for (size_t i = 0; i < cgroup.controllers.size(); ++i) {
    controllers.set(i, cgroup.controllers[i]);
  }
  out.setMemoryCgroupRequired(requirements_.memory_cgroup);
}

}  // namespace bulkhead::supervisor
