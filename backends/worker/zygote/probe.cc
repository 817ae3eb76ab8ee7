// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/probe.h"

#include <capnp/message.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/worker/media/decode/backend_table.h"
#include "backends/worker/media/decode/buffer_provider.h"
#include "backends/worker/zygote/device_list.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::worker::zygote {
namespace {

constexpr std::chrono::milliseconds kSendDeadline{5'000};
constexpr size_t kMaxProbeBytes = size_t{64} << 20;

void Emit(void* devices, const bulkhead_device* device) {
  static_cast<std::vector<EmittedDevice>*>(devices)->push_back(
      CopyDevice(*device));
}

void Fail(const std::string& reason, ipc::schema::DeviceList::Builder list) {
  auto failure = list.initFailed();
  failure.setCode(ipc::schema::ErrorCode::BACKEND_UNAVAILABLE);
  failure.setMessage("the backend cannot enumerate its devices: " + reason);
}

}  // namespace

int RunProbe(const bulkhead_backend& backend, int socket) {
  decode::BufferProvider buffers(kMaxProbeBytes, nullptr,
                                 decode::VersionInForce(backend));
  std::vector<EmittedDevice> devices;
  const bulkhead_result result =
      backend.enumerate_devices(buffers.runtime(), Emit, &devices);

  capnp::MallocMessageBuilder message;
  auto list = message.initRoot<ipc::schema::DeviceList>();
  if (result == BULKHEAD_OK) {
    auto out = list.initDevices(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      Write(devices[i], i > 0 ? &devices[i - 1] : nullptr, out[i]);
    }
    if (capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word) >
        ipc::kMaxMessageBytes) {
      Fail("what it says about them is more than " +
               std::to_string(ipc::kMaxMessageBytes) + " bytes",
           list);
    }
  } else {
    const char* reason =
        backend.last_error ? backend.last_error(nullptr) : nullptr;
    Fail(reason ? reason : "it gave no reason", list);
  }
  return ipc::SendMessage(socket, message, {},
                          ipc::Deadline::After(kSendDeadline))
             ? 0
             : 1;
}

}  // namespace bulkhead::worker::zygote
