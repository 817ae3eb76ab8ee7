// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/lockdown.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/landlock.h"
#include "core/supervisor/sandbox/syscall_tables.h"
#include "ipc/schema/lockdown.capnp.h"

namespace bulkhead::sandbox {
namespace {

namespace schema = ipc::schema;

capnp::Data::Reader Bytes(const std::vector<sock_filter>& filter) {
  const auto bytes = FilterBytes(filter);
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

void Write(const LandlockPlan& plan, schema::Landlock::Builder landlock) {
  landlock.setAbi(plan.abi);
  landlock.setHandledAccessFs(plan.handled_fs);
  landlock.setHandledAccessNet(plan.handled_net);
  landlock.setScoped(plan.scoped);
  auto rules = landlock.initRules(static_cast<unsigned>(plan.rules.size()));
  for (unsigned i = 0; i < rules.size(); ++i) {
    rules[i].setPath(plan.rules[i].path);
    rules[i].setAccess(plan.rules[i].access);
    if (const auto& seen = plan.rules[i].identity) {
      auto identity = rules[i].initIdentity();
      identity.setDevice(seen->device);
      identity.setInode(seen->inode);
    }
  }
}

// Returns the device numbers of the granted nodes.
std::vector<uint64_t> DeviceNumbers(const Policy& policy) {
  std::vector<uint64_t> numbers;
  for (const VisiblePath& visible : policy.visible) {
    if (visible.kind != VisiblePath::Kind::kDevice) continue;
    // Devices are visible only if they were granted.
    numbers.push_back(visible.identity->node);
  }
  return numbers;
}

void WriteDevices(const Policy& policy, schema::Lockdown::Builder lockdown) {
  const std::vector<uint64_t> numbers = DeviceNumbers(policy);
  auto devices = lockdown.initDevices(static_cast<unsigned>(numbers.size()));
  for (unsigned i = 0; i < devices.size(); ++i) devices.set(i, numbers[i]);
}

GrantedCalls CallsOf(const Policy& policy) {
  return {.ioctl_types = policy.ioctl_types,
          .devices = !DeviceNumbers(policy).empty(),
          .fixed_descriptors = policy.fixed_descriptors};
}

Result<ipc::UniqueFd> SealedCopy(kj::ArrayPtr<const kj::byte> bytes) {
  ipc::UniqueFd memory(
      memfd_create("bulkhead-lockdown", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) {
    return ErrnoStatus(Code::kResourceExhausted, "memfd_create failed");
  }
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written =
        write(memory.get(), bytes.begin() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return ErrnoStatus(Code::kResourceExhausted,
                         "cannot write a backend's lock-down to a memfd");
    }
    done += static_cast<size_t>(written);
  }
  if (fcntl(memory.get(), F_ADD_SEALS,
            F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoStatus(Code::kInternal, "cannot seal a backend's lock-down");
  }
  return memory;
}

}  // namespace

Result<ipc::UniqueFd> CompileLockdown(const Policy& policy,
                                      const Plugin& plugin,
                                      Forbidden forbidden) {
  capnp::MallocMessageBuilder message;
  auto lockdown = message.initRoot<schema::Lockdown>();
  Write(PlanLandlock(LandlockAbi(), policy), lockdown.initLandlock());
  const GrantedCalls calls = CallsOf(policy);
  // A forbidden call of the reaper kills it without a report. bulkheadd notices
  // the end of the reaper, which is the end of the backend.
  lockdown.setReaperFilter(
      Bytes(CompileFilter(ReaperTable(), Forbidden::kKill)));
  // The same filters serve both tiers: CLONE_PARENT makes the reaper the parent
  // of each worker, with or without a pid namespace.
  lockdown.setZygoteFilter(
      Bytes(CompileFilter(ZygoteTableWith(calls), forbidden)));
  lockdown.setSessionFilter(Bytes(SessionFilter(forbidden, calls)));
  lockdown.setNotifies(forbidden == Forbidden::kNotify);
  WriteDevices(policy, lockdown);
  lockdown.setPluginPath(plugin.object_path);
  lockdown.setEntrySymbol(plugin.entry_symbol);
  lockdown.setDisableSpeculation(policy.disable_speculation);
  const kj::Array<capnp::word> flat = capnp::messageToFlatArray(message);
  return SealedCopy(flat.asBytes());
}

ExpectedCalls::SessionLockdown SessionLockdownOf(const Policy& policy,
                                                 Forbidden forbidden) {
  ExpectedCalls::SessionLockdown lockdown{
      .filter = SessionFilter(forbidden, CallsOf(policy)),
      .handled = std::nullopt,
      .devices = DeviceNumbers(policy)};
  if (const LandlockPlan plan = PlanLandlock(LandlockAbi(), policy);
      plan.abi > 0) {
    lockdown.handled = {plan.handled_fs, plan.handled_net, plan.scoped};
  }
  return lockdown;
}

}  // namespace bulkhead::sandbox
