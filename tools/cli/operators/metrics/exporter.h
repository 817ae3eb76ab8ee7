// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>

namespace bulkhead::cli::metrics {

// Parses the address of a server: "127.0.0.1:9464", "[::1]:9464", or "9464",
// which means this port of the loopback interface. Returns kInvalidArgument for
// anything else.
Result<std::string> ToServerAddress(const std::string& text);

// Serves the metrics at http://ADDRESS/metrics until SIGTERM or SIGINT arrives.
// Each scrape asks all bulkheadds again. Threads of civetweb, which is part of
// prometheus-cpp, serve the connections, and drop a connection that sends no
// complete request within a second. On a loopback address, refuses requests
// whose Host header is neither localhost nor an address. Such requests come
// from web pages that attack by DNS rebinding. Must be called once, before the
// process has any other thread. Returns kInvalidArgument if the server cannot
// listen on the address.
Status ServeMetrics(const std::string& address);

}  // namespace bulkhead::cli::metrics
