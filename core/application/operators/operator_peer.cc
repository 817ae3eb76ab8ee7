// SPDX-License-Identifier: Apache-2.0
#include "core/application/operators/operator_peer.h"

#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/application/operators/listener_owners.h"
#include "core/control/operator_address.h"
#include "core/control/peer_user.h"

namespace bulkhead::operators {
namespace {

constexpr char kListed[] = "/proc/net/unix";
constexpr char kListening[] = "00010000";  // the flags of a listening socket
constexpr size_t kRandomDigits = 16;       // at the end of an address
constexpr size_t kMaxPeers = 1'024;
// The most reasons that are listed for people.
constexpr size_t kMaxSilent = 16;

// Connects to the abstract socket `name`. If that fails, returns no descriptor
// and sets `error` to the errno: ECONNREFUSED if nobody listens there any more.
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

// Returns the reason why a listener of another user is skipped.
std::string NotBelieved(int pid, uid_t uid, const BelievedUsers& users) {
  std::string reason = "somebody else (uid " + std::to_string(uid) +
                       ") listens where a bulkheadd of process " +
                       std::to_string(pid) + " would, and is not believed";
  if (uid == users.own) {
    reason +=
        ": this user namespace shows every user from outside by that uid too; "
        "run the application and its operators as another user";
  }
  return reason;
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
  ListedAddress listed{.address = "", .host_pid = 0, .inode = 0};
  const auto number =
      std::from_chars(inode.data(), inode.data() + inode.size(), listed.inode);
  if (number.ec != std::errc()) return std::nullopt;
  const std::string prefix = "@" + OperatorAddressPrefix(uid);
  if (!path.starts_with(prefix)) return std::nullopt;
  // After the prefix comes the pid of the application, a slash and random
  // digits.
  const std::string rest = path.substr(prefix.size());
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), listed.host_pid);
  const auto left = static_cast<size_t>(rest.data() + rest.size() - end);
  if (error != std::errc() || listed.host_pid <= 0 ||
      left != kRandomDigits + 1 || *end != '/') {
    return std::nullopt;
  }
  listed.address = path.substr(1);
  return listed;
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
  const BelievedUsers users = BelievedUsers::OfThisProcess();
  std::vector<ListedAddress> listening;
  for (std::string line; std::getline(file, line);) {
    auto listed = ParseListed(line, users.own);
    if (!listed || (host_pid && listed->host_pid != *host_pid) ||
        known.contains(listed->address)) {
      continue;
    }
    listening.push_back(*std::move(listed));
  }
  FoundPeers found;
  const auto note = [&found](int pid, std::string reason) {
    if (found.silent.size() < kMaxSilent) {
      found.silent.push_back({.host_pid = pid, .reason = std::move(reason)});
    }
  };
  // Skips a stranger. A list of all applications leaves it out without a word.
  // A caller that asks for one application gets the reason.
  const auto skip = [&](int pid, uid_t uid) {
    if (host_pid) note(pid, NotBelieved(pid, uid, users));
  };
  // The owners are read after the addresses, so that they include the owners of
  // all addresses that are still in use.
  const std::map<uint64_t, uid_t> owners =
      listening.empty() ? std::map<uint64_t, uid_t>() : OwnersOfListeners();
  for (ListedAddress& listed : listening) {
    if (found.peers.size() >= kMaxPeers) break;
    // The owner is checked before the connection: a stranger could keep its
    // queue of connections full, which would look like a bulkheadd that hangs.
    if (const auto owner = owners.find(listed.inode);
        owner != owners.end() && !users.Believes(owner->second)) {
      skip(listed.host_pid, owner->second);
      continue;
    }
    int error = 0;
    ipc::UniqueFd socket = Connect(listed.address, error);
    if (!socket) {
      if (error == ECONNREFUSED) continue;
      note(listed.host_pid, "the bulkheadd of process " +
                                std::to_string(listed.host_pid) +
                                " takes no connection: " +
                                std::generic_category().message(error));
      continue;
    }
    const auto peer = PeerOf(socket.get());
    if (!peer || !users.Believes(peer->uid)) {
      skip(listed.host_pid, peer ? peer->uid : static_cast<uid_t>(-1));
      continue;
    }
    found.peers.push_back({.address = std::move(listed.address),
                           .host_pid = listed.host_pid,
                           .supervisor_pid = peer->pid,
                           .socket = std::move(socket)});
  }
  return found;
}

}  // namespace bulkhead::operators
