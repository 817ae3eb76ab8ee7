// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/probe.h"

#include <capnp/message.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/worker/media/buffers.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::worker {
namespace {

constexpr std::chrono::milliseconds kSendDeadline{5'000};
constexpr size_t kMaxProbeBytes = size_t{64} << 20;

struct Device {
  std::string name;
  std::string description;
};

void Emit(void* devices, const bulkhead_device* device) {
  static_cast<std::vector<Device>*>(devices)->push_back(
      {device->name ? device->name : "",
       device->description ? device->description : ""});
}

}  // namespace

int RunProbe(const bulkhead_backend& backend, int socket) {
  BufferProvider buffers(kMaxProbeBytes);
  std::vector<Device> devices;
  const bulkhead_result result =
      backend.enumerate_devices(buffers.runtime(), Emit, &devices);

  capnp::MallocMessageBuilder message;
  auto list = message.initRoot<ipc::schema::DeviceList>();
  if (result == BULKHEAD_OK) {
    auto out = list.initDevices(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      out[i].setName(devices[i].name);
      out[i].setDescription(devices[i].description);
    }
  } else {
    const char* reason =
        backend.last_error ? backend.last_error(nullptr) : nullptr;
    auto failure = list.initFailed();
    failure.setCode(ipc::schema::ErrorCode::BACKEND_UNAVAILABLE);
    failure.setMessage(
        std::string("the backend cannot enumerate its devices: ") +
        (reason ? reason : "it gave no reason"));
  }
  return ipc::SendMessage(socket, message, {},
                          ipc::Deadline::After(kSendDeadline))
             ? 0
             : 1;
}

}  // namespace bulkhead::worker
