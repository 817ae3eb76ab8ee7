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

namespace bulkhead::cli::metrics {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kLoopback[] = "127.0.0.1:";

// A thread of civetweb serves a single connection from its first byte to its
// end, and drops it if the request does not arrive in time. With the defaults,
// two threads and 30 seconds, two silent connections would block all scrapes.
// With these values, a thousand silent connections are dropped within the 10
// seconds that Prometheus waits for a scrape.
constexpr char kThreads[] = "128";
constexpr char kRequestTimeoutMs[] = "1000";
// The number of accepted connections that may wait for a thread. Together with
// the connections of the threads they stay below the usual limit of 1,024
// descriptors.
constexpr char kConnectionQueue[] = "512";
// The kernel lowers this number to net.core.somaxconn.
constexpr char kListenBacklog[] = "4096";

// The source of the metrics. Each scrape, on any thread of the server, asks all
// bulkheadds, which takes two seconds at most.
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

// Returns a text for an errno of bind() or listen(), with advice.
std::string AdviceFor(int error) {
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

// Returns whether the Host header of a request is "localhost" or an IP address.
// Any other name may have been resolved to this machine by a hostile name
// server.
bool IsOwnHost(const std::string& host_untrusted) {
  const size_t end = host_untrusted.starts_with('[')
                         ? host_untrusted.find(']') + 1
                         : host_untrusted.find(':');
  const std::string name = host_untrusted.substr(0, end);
  return ::strcasecmp(name.c_str(), "localhost") == 0 || IsAddress(name);
}

// Refuses a request whose Host header is another name. A web page whose host
// name resolves to this machine (DNS rebinding) makes such requests, and could
// read the metrics otherwise. A callback of civetweb: runs before each request.
int RefuseOtherHosts(mg_connection* connection) {
  constexpr int kPasses = 0;  // Lets civetweb go on with the request.
  constexpr int kMisdirected = 421;
  const char* const host_untrusted = mg_get_header(connection, "Host");
  if (host_untrusted == nullptr || IsOwnHost(host_untrusted)) return kPasses;
  mg_send_http_error(connection, kMisdirected, "%s",
                     "This is no host of that name; ask localhost or an IP "
                     "address.\n");
  return kMisdirected;
}

// Returns whether `address`, a result of ToServerAddress(), can be reached only
// from this machine.
bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("[::1]");
}

// Listens on `address`, a result of ToServerAddress(), and stops again.
// civetweb does not report why it cannot listen; this function does.
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
                "cannot listen on " + address + ": " + AdviceFor(errno));
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
  // The threads of the server inherit the mask, so that only sigwait() below
  // gets the signals.
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const auto applications = std::make_shared<Applications>();
  std::optional<prometheus::Exposer> exposer;
  CivetCallbacks callbacks;
  // An address of the network may have any number of legitimate names, so that
  // Host headers are checked on the loopback interface only.
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
    // prometheus-cpp throws if it cannot listen.
    return Status(Code::kInvalidArgument,
                  "cannot listen on " + address + ": " + error.what());
  }
  exposer->RegisterCollectable(applications);
  // For port 0 the kernel has chosen a port, which is printed here.
  Say("serving http://" + address.substr(0, address.rfind(':') + 1) +
      std::to_string(exposer->GetListeningPorts().front()) + "/metrics");
  int signal = 0;
  ::sigwait(&ending, &signal);
  return Status();
}

}  // namespace bulkhead::cli::metrics
