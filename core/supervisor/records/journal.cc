// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/journal.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/clean_text.h"
#include "ipc/unique_fd.h"

namespace bulkhead::records {
namespace {

constexpr sockaddr_un kJournal = {.sun_family = AF_UNIX,
                                  .sun_path = "/run/systemd/journal/socket"};
// Keeps an entry small enough for one datagram.
constexpr size_t kMaxFieldBytes = 4 * 1024;

int PriorityOf(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kBackendState:
      if (event.state == "quarantined") return LOG_ERR;
      return event.state == "backing-off" ? LOG_WARNING : LOG_INFO;
    case Event::Kind::kFailoverFailed:
      return LOG_ERR;
    case Event::Kind::kCommand:
      return LOG_NOTICE;
    case Event::Kind::kShadowClosed:
    case Event::Kind::kSessionOpened:
    case Event::Kind::kSessionClosed:
      return LOG_INFO;
    case Event::Kind::kZygoteEnded:
    case Event::Kind::kWorkerEnded:
    case Event::Kind::kShadowDiffers:
    case Event::Kind::kTrial:
    case Event::Kind::kFailover:
      break;
  }
  return LOG_WARNING;
}

// Adds the line of a field; leaves an empty value or a 0 out.
void AddField(std::string& entry, std::string_view name,
              std::string_view value_untrusted) {
  if (value_untrusted.empty()) return;
  entry += name;
  entry += '=';
  entry += CleanText(value_untrusted, kMaxFieldBytes);
  entry += '\n';
}

void AddField(std::string& entry, std::string_view name, uint64_t number) {
  if (number != 0) AddField(entry, name, std::to_string(number));
}

std::string Sentence(const Event& event) {
  std::string text = event.backend + " " + EventKindName(event.kind);
  if (!event.device.empty()) text += " " + event.device;
  if (!event.state.empty()) text += " " + event.state;
  if (!event.text.empty()) text += ": " + event.text;
  return text;
}

}  // namespace

std::string JournalEntry(const Event& event, pid_t application) {
  if (event.kind == Event::Kind::kSessionOpened ||
      event.kind == Event::Kind::kSessionClosed) {
    return "";
  }
  std::string entry;
  AddField(entry, "MESSAGE", Sentence(event));
  AddField(entry, "PRIORITY", std::to_string(PriorityOf(event)));
  AddField(entry, "SYSLOG_IDENTIFIER", "bulkheadd");
  AddField(entry, "BULKHEAD_EVENT", EventKindName(event.kind));
  AddField(entry, "BULKHEAD_BACKEND", event.backend);
  AddField(entry, "BULKHEAD_DEVICE", event.device);
  AddField(entry, "BULKHEAD_STATE", event.state);
  AddField(entry, "BULKHEAD_SESSION", event.session);
  AddField(entry, "BULKHEAD_CRASH", event.exit ? event.exit->crash : 0);
  AddField(entry, "BULKHEAD_HOST_PID", static_cast<uint64_t>(application));
  return entry;
}

void WriteToJournal(const Event& event, pid_t application) {
  const std::string entry = JournalEntry(event, application);
  if (entry.empty()) return;
  // Each entry takes a new socket: entries are rare, and on a machine without a
  // journal bulkheadd keeps no descriptor for it.
  const ipc::UniqueFd socket(
      ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return;
  ::sendto(socket.get(), entry.data(), entry.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&kJournal), sizeof(kJournal));
}

}  // namespace bulkhead::records
