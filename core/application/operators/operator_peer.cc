// SPDX-License-Identifier: Apache-2.0
#include "core/application/operators/operator_peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/control/operator_address.h"

namespace bulkhead::operators {
namespace {

constexpr char kListed[] = "/proc/net/unix";
constexpr char kListening[] = "00010000";
constexpr size_t kRandomDigits = 16;
constexpr size_t kMaxPeers = 1'024;
// Any user of the machine may listen at addresses of this form.
constexpr size_t kMaxSilent = 16;

// Connects to the abstract socket `name`. If nobody listens there any more,
// returns no descriptor and sets `error` to the errno.
ipc::UniqueFd Connect(const std::string& name, int& error) {
  sockaddr_un address;
  socklen_t bytes = 0;
  ipc::UniqueFd socket(
      ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = 0;
  if (socket && ToAddress(name, address, bytes) &&
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) ==
          0) {
    return socket;
  }
  error = errno;
  return ipc::UniqueFd();
}

}  // namespace

std::optional<ListedAddress> ParseListed(const std::string& line,
                                         unsigned uid) {
  std::istringstream words(line);
  std::string slot, references, protocol, flags, type, state, inode, path;
  if (!(words >> slot >> references >> protocol >> flags >> type >> state >>
        inode >> path) ||
      flags != kListening) {
    return std::nullopt;
  }
  const std::string prefix = "@" + OperatorAddressPrefix(uid);
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string rest = path.substr(prefix.size());
  int pid = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), pid);
  const auto left = static_cast<size_t>(rest.data() + rest.size() - end);
  if (error != std::errc() || pid <= 0 || left != kRandomDigits + 1 ||
      *end != '/') {
    return std::nullopt;
  }
  return ListedAddress{path.substr(1), pid};
}

Status FoundPeers::NotFound(std::optional<int> host_pid) const {
  std::string message =
      host_pid ? "no bulkheadd of this user serves process " +
                     std::to_string(*host_pid)
               : std::string("no bulkheadd of this user is running");
  for (const SilentPeer& peer : silent) message += "; " + peer.reason;
  return Status(Code::kNotFound, message);
}

Result<FoundPeers> FindPeers(std::optional<int> host_pid,
                             const std::set<std::string>& known) {
  std::ifstream file(kListed);
  if (!file) {
    return Status(Code::kUnsupported,
                  std::string("cannot read ") + kListed +
                      ", by which running applications are found");
  }
  FoundPeers found;
  const auto note = [&found](int pid, std::string reason) {
    if (found.silent.size() < kMaxSilent) {
      found.silent.push_back({.host_pid = pid, .reason = std::move(reason)});
    }
  };
  for (std::string line;
       found.peers.size() < kMaxPeers && std::getline(file, line);) {
    const auto listed = ParseListed(line, ::geteuid());
    if (!listed || (host_pid && listed->host_pid != *host_pid) ||
        known.contains(listed->address)) {
      continue;
    }
    int error = 0;
    ipc::UniqueFd socket = Connect(listed->address, error);
    if (!socket) {
      if (error == ECONNREFUSED) continue;
      note(listed->host_pid, "the bulkheadd of process " +
                                 std::to_string(listed->host_pid) +
                                 " takes no connection: " +
                                 std::generic_category().message(error));
      continue;
    }
    ucred credentials;
    socklen_t bytes = sizeof credentials;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials,
                     &bytes) != 0 ||
        (credentials.uid != ::geteuid() && credentials.uid != 0)) {
      note(listed->host_pid, "somebody else (uid " +
                                 std::to_string(credentials.uid) +
                                 ") listens where a bulkheadd of process " +
                                 std::to_string(listed->host_pid) +
                                 " would, and is not believed");
      continue;
    }
    found.peers.push_back({.address = listed->address,
                           .host_pid = listed->host_pid,
                           .supervisor_pid = credentials.pid,
                           .socket = std::move(socket)});
  }
  return found;
}

}  // namespace bulkhead::operators
