// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/cli/conformance/clauses.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::conformance {
namespace {

using Kind = Verdict::Kind;

const char* WordOf(Kind kind) {
  if (kind == Kind::kPassed) return "passed";
  return kind == Kind::kFailed ? "FAILED" : "-";
}

std::string Joined(const std::vector<std::string>& words) {
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

int64_t Count(const std::vector<Finding>& findings, Kind kind) {
  return std::ranges::count_if(findings, [kind](const Finding& each) {
    return each.verdict.kind() == kind;
  });
}

// Escapes `text` for an attribute or the content of an XML element. Backends
// wrote parts of the text, so it may contain any bytes.
std::string Escaped(std::string_view text) {
  std::string escaped;
  std::string printable = Printable(text);
  // XML has no characters U+FFFE and U+FFFF.
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (size_t at; (at = printable.find(none)) != std::string::npos;) {
      printable.replace(at, std::strlen(none), "?");
    }
  }
  for (const char c : printable) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Returns a finding as an element <testcase> of JUnit.
std::string Testcase(const std::string& backend, const Finding& finding) {
  std::string text = fmt::format(
      "  <testcase classname=\"{}\" name=\"{} [{}]\" time=\"{:.3f}\"",
      Escaped(backend), Escaped(finding.check), Escaped(finding.clause),
      finding.seconds);
  const Verdict& verdict = finding.verdict;
  switch (verdict.kind()) {
    case Kind::kPassed:
      return text + "/>\n";
    case Kind::kFailed:
      return text + fmt::format(
                        ">\n    <failure message=\"[{}] {}\">{}"
                        "</failure>\n  </testcase>\n",
                        Escaped(verdict.clause()),
                        Escaped(ClauseWords(verdict.clause())),
                        Escaped(verdict.words()));
    case Kind::kNotTried:
      return text + fmt::format(
                        ">\n    <skipped message=\"{}\"/>\n"
                        "  </testcase>\n",
                        Escaped(verdict.words()));
  }
  return text;
}

}  // namespace

std::string DescribeFinding(const Finding& finding) {
  std::string text = fmt::format("{:>6}  {:<46} {:<11} {:7.2f} s",
                                 WordOf(finding.verdict.kind()), finding.check,
                                 "[" + finding.clause + "]", finding.seconds);
  if (finding.cpu_seconds) {
    text += fmt::format("  cpu {:.2f} s", *finding.cpu_seconds);
  }
  const Verdict& verdict = finding.verdict;
  if (!verdict.words().empty()) text += "\n        " + verdict.words();
  if (verdict.kind() == Kind::kFailed) {
    text += fmt::format("\n        [{}] {}", verdict.clause(),
                        ClauseWords(verdict.clause()));
  }
  return text;
}

std::string DescribeSubject(const Subject& subject) {
  const BackendInfo& backend = subject.backend();
  return fmt::format(
      "{} of {} {}, {}\ndevice {} of {}; asks for {}; granted {}", backend.name,
      backend.distribution, backend.version, backend.file, subject.device(),
      backend.devices.size(), Joined(backend.asked), Joined(backend.granted));
}

std::string Summarize(const std::vector<Finding>& findings) {
  return fmt::format(
      "{} passed, {} failed, {} not tried", Count(findings, Kind::kPassed),
      Count(findings, Kind::kFailed), Count(findings, Kind::kNotTried));
}

nlohmann::ordered_json FactsOf(const Subject& subject,
                               const std::vector<Finding>& findings) {
  const BackendInfo& backend = subject.backend();
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    const Verdict& verdict = finding.verdict;
    const char* result = verdict.kind() == Kind::kPassed   ? "passed"
                         : verdict.kind() == Kind::kFailed ? "failed"
                                                           : "not tried";
    const std::string& clause =
        verdict.kind() == Kind::kFailed ? verdict.clause() : finding.clause;
    checks.push_back(
        {{"check", finding.check},
         {"result", result},
         {"clause", clause},
         {"clause_says", ClauseWords(clause)},
         {"words", verdict.words()},
         {"seconds", finding.seconds},
         {"cpu_seconds", finding.cpu_seconds
                             ? nlohmann::ordered_json(*finding.cpu_seconds)
                             : nlohmann::ordered_json()}});
  }
  return {{"backend", backend.name},
          {"distribution", backend.distribution},
          {"version", backend.version},
          {"file", backend.file},
          {"device", subject.device()},
          {"asked", backend.asked},
          {"granted", backend.granted},
          {"passed", Count(findings, Kind::kPassed)},
          {"failed", Count(findings, Kind::kFailed)},
          {"not_tried", Count(findings, Kind::kNotTried)},
          {"checks", checks}};
}

Status WriteJunit(const Subject& subject, const std::vector<Finding>& findings,
                  writers::Output& output) {
  double seconds = 0;
  for (const Finding& finding : findings) seconds += finding.seconds;
  const std::string& name = subject.backend().name;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"bulkhead conformance {}\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      Escaped(name), findings.size(), Count(findings, Kind::kFailed),
      Count(findings, Kind::kNotTried), seconds);
  for (const Finding& finding : findings) text += Testcase(name, finding);
  text += "</testsuite>\n";
  Status status = output.Write(text);
  return status.ok() ? output.Close() : status;
}

}  // namespace bulkhead::cli::conformance
