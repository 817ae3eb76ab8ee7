// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>

namespace bulkhead::cli {

// Returns `text` as the address of a server, with a port: "127.0.0.1:9464".
// Takes an IPv4 or bracketed IPv6 address with a port, or a port alone, which
// is one of the loopback interface. kInvalidArgument for anything else.
Result<std::string> ToServerAddress(const std::string& text);

// Serves the metrics on `address`, as http://ADDRESS/metrics, until SIGTERM or
// SIGINT arrives, and asks all bulkheadds anew at each scrape. Connections
// are served by threads of civetweb, which prometheus-cpp has; one that sends
// no whole request within a second is dropped. On an address of the loopback
// interface, a request that names another host than localhost or an address is
// refused: it comes from a web page that was made to look like one from here.
// Call it once, before the process has any thread. kInvalidArgument if it
// cannot listen there.
Status ServeMetrics(const std::string& address);

}  // namespace bulkhead::cli
