// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/metrics/exporter.h"

#include <CivetServer.h>
#include <arpa/inet.h>
#include <bulkhead/operators.h>
#include <civetweb.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "ipc/unique_fd.h"
#include "tools/cli/operators/metrics/metric_families.h"
#include "tools/cli/operators/metrics/metric_totals.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kLoopback[] = "127.0.0.1:";

// A thread of civetweb serves one connection from its first byte to its end,
// and drops one whose request does not arrive within the time. Its defaults
// here, two threads and 30 seconds, let two silent connections stop all
// scrapes. These take a thousand of them within Prometheus' 10 seconds.
constexpr char kThreads[] = "128";
constexpr char kRequestTimeoutMs[] = "1000";
// Connections that were accepted and wait for a thread; with the
// threads' own they stay below the usual limit of 1,024 descriptors.
constexpr char kConnectionQueue[] = "512";
// The kernel's limit (net.core.somaxconn) bounds it.
constexpr char kListenBacklog[] = "4096";

// Asks all bulkheadds at each scrape, which takes two seconds at most.
class Applications final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    const auto running = FindRunningHosts(std::chrono::milliseconds(0));
    if (running) totals_.Add(*running, Clock::now());
    return FamiliesOf(running, totals_);
  }

 private:
  mutable std::mutex mutex_;
  mutable MetricTotals totals_{MetricTotals::Since::kNow, Clock::now()};
};

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsAddress(const std::string& text) {
  in6_addr address;
  if (text.starts_with('[') && text.ends_with(']')) {
    const std::string inner = text.substr(1, text.size() - 2);
    return ::inet_pton(AF_INET6, inner.c_str(), &address) == 1;
  }
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

// Returns the words for an errno of bind() or listen().
std::string WhyNot(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another program listens there, `ss -ltnp` names it; end it or "
             "give --listen another port (0: one that is free)";
    case EADDRNOTAVAIL:
      return "this machine has no such address, `ip address` lists those that "
             "it has; give --listen one of them, or a port alone";
    case EACCES:
      return "only root may listen on a port below 1024; give --listen a "
             "higher one, such as 9464";
    default:
      return std::generic_category().message(error) +
             "; give --listen another address";
  }
}

// Returns whether the host of a request is this machine by its name or by an
// address, and no name that a stranger's name server may have resolved to it.
bool IsOwnHost(const std::string& host_untrusted) {
  const size_t end = host_untrusted.starts_with('[')
                         ? host_untrusted.find(']') + 1
                         : host_untrusted.find(':');
  const std::string name = host_untrusted.substr(0, end);
  return ::strcasecmp(name.c_str(), "localhost") == 0 || IsAddress(name);
}

// Answers a request for another host, as a web page makes it whose own host
// name leads here (DNS rebinding), so that the page cannot read the metrics.
int RefuseOtherHosts(mg_connection* connection) {
  constexpr int kPasses = 0;  // to the handler of the path
  constexpr int kMisdirected = 421;
  const char* const host_untrusted = mg_get_header(connection, "Host");
  if (host_untrusted == nullptr || IsOwnHost(host_untrusted)) return kPasses;
  mg_send_http_error(connection, kMisdirected, "%s",
                     "This is no host of that name; ask localhost or an IP "
                     "address.\n");
  return kMisdirected;
}

// Returns whether `address`, one of ToServerAddress(), can be reached from this
// machine alone.
bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("[::1]");
}

// Listens as the server will, and stops, since civetweb does not say why it
// cannot. `address` is one of ToServerAddress().
Status TryToListen(const std::string& address) {
  const size_t colon = address.rfind(':');
  const auto port =
      htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  sockaddr_storage where{};
  socklen_t bytes = sizeof(sockaddr_in);
  if (address.starts_with('[')) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(where);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = port;
    ::inet_pton(AF_INET6, address.substr(1, colon - 2).c_str(), &v6.sin6_addr);
    bytes = sizeof(sockaddr_in6);
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(where);
    v4.sin_family = AF_INET;
    v4.sin_port = port;
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &v4.sin_addr);
  }
  const ipc::UniqueFd socket(
      ::socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (socket &&
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ==
          0 &&
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&where), bytes) == 0 &&
      ::listen(socket.get(), 1) == 0) {
    return Status();
  }
  return Status(Code::kInvalidArgument,
                "cannot listen on " + address + ": " + WhyNot(errno));
}

}  // namespace

Result<std::string> ToServerAddress(const std::string& text) {
  if (IsPort(text)) return kLoopback + text;
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && IsAddress(text.substr(0, colon)) &&
      IsPort(std::string_view(text).substr(colon + 1))) {
    return text;
  }
  return Status(Code::kInvalidArgument,
                "not an address with a port, such as 127.0.0.1:9464 or "
                "[::1]:9464, or a port: " +
                    text);
}

Status ServeMetrics(const std::string& address) {
  if (Status able = TryToListen(address); !able.ok()) return able;
  sigset_t ending;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGINT);
  ::sigaddset(&ending, SIGTERM);
  // The threads of the server inherit the mask, so that the signal stays for
  // sigwait().
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const auto applications = std::make_shared<Applications>();
  // prometheus-cpp throws where it cannot listen.
  std::optional<prometheus::Exposer> exposer;
  CivetCallbacks callbacks;
  // Others ask an address of the network by names that only they know.
  if (IsLoopback(address)) callbacks.begin_request = RefuseOtherHosts;
  try {
    exposer.emplace(
        std::vector<std::string>{"listening_ports", address, "num_threads",
                                 kThreads, "request_timeout_ms",
                                 kRequestTimeoutMs, "connection_queue",
                                 kConnectionQueue, "listen_backlog",
                                 kListenBacklog, "enable_keep_alive", "no"},
        &callbacks);
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument,
                  "cannot listen on " + address + ": " + error.what());
  }
  exposer->RegisterCollectable(applications);
  // Port 0 stands for a port that the kernel chooses.
  Say("serving http://" + address.substr(0, address.rfind(':') + 1) +
      std::to_string(exposer->GetListeningPorts().front()) + "/metrics");
  int signal = 0;
  ::sigwait(&ending, &signal);
  return Status();
}

}  // namespace bulkhead::cli
