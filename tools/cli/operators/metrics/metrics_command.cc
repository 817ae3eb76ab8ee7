// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/operators.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <memory>
#include <string>

#include "core/application/writers/output.h"
#include "tools/cli/command_line.h"
#include "tools/cli/operators/metrics/exporter.h"
#include "tools/cli/operators/metrics/metric_families.h"
#include "tools/cli/operators/metrics/metric_totals.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::metrics {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kExamples[] = R"(Examples:
  bulkhead metrics                           print them once
  bulkhead metrics | promtool check metrics
  bulkhead metrics --listen 9464             serve http://127.0.0.1:9464/metrics
  bulkhead metrics --listen '[::1]:9464'

Tells of all applications of this user, added up by program and backend. Once:
what they have counted since they started. Served: what they have counted since
the exporter saw them first, kept when they end, so that counters never fall
while the exporter runs. What an application counts after the last scrape before
it ends is lost. Each scrape asks every bulkheadd and takes two seconds at most.

Anybody who reaches the address can read names of programs and backends. Use
another address than one of the loopback interface only in a network that you
trust: nothing is encrypted and nobody is asked for a password. The exporter ends
with SIGTERM or ^C. A file of alert rules for Prometheus is installed as
share/bulkhead/prometheus/bulkhead.rules.yml.)";

int PrintOnce() {
  const Result<RunningHosts> running =
      FindRunningHosts(std::chrono::milliseconds(0));
  if (!running) return Fail(running.error());
  MetricTotals totals(MetricTotals::Since::kStart, Clock::now());
  totals.Add(*running, Clock::now());
  const std::string text =
      prometheus::TextSerializer().Serialize(FamiliesOf(running, totals));
  for (const SilentHost& silent : running->silent) Say(silent.reason);
  Result<std::unique_ptr<writers::Output>> output = writers::Output::Open("-");
  if (!output) return Fail(output.error());
  Status status = (*output)->Write(text);
  if (status.ok()) status = (*output)->Close();
  return status.ok() || (*output)->reader_gone() ? 0 : Fail(status);
}

int RunMetrics(const GlobalOptions&, const std::string& listen) {
  if (listen.empty()) return PrintOnce();
  const Result<std::string> address = ToServerAddress(listen);
  if (!address) return Fail(address.error());
  const Status served = ServeMetrics(*address);
  return served.ok() ? 0 : Fail(served);
}

}  // namespace

void AddMetricsCommand(Command& program, Invocation& invocation) {
  const auto [command, listen] = AddSubcommand<std::string>(
      program, invocation, "metrics",
      "Print what applications have counted, for Prometheus", kExamples,
      RunMetrics);
  command.AddOption("--listen ADDRESS", &listen,
                    "Serve the metrics on this address until SIGTERM; a port "
                    "alone is one of 127.0.0.1");
}

}  // namespace bulkhead::cli::metrics
