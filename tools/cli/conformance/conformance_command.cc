// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/application/writers/output.h"
#include "core/base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/interruption.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/report.h"
#include "tools/cli/conformance/subject.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::conformance {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead conformance acme
  bulkhead conformance acme --device acme:1 --media clips
  bulkhead conformance acme --codec av1 --junit report.xml
  bulkhead conformance acme --without leaks,damaged
  bulkhead conformance acme --clips ~/.cache/clips
  bulkhead conformance acme --json | jq '.checks[] | select(.result == "failed")'

Decodes small clips, which the ffmpeg program makes, and the files of --media, and
compares each frame with what ffmpeg decodes. Each check names the clause of
bulkhead_backend.h that it is about. The backend runs in the sandbox, as always;
what it does here counts against it nowhere else.

Takes half a minute for a backend of one codec. With --clips, runs share their clips,
also at the same time: a clip is made anew if it was changed, or by another ffmpeg.

Exit status: 0 if no check failed, 4 if one did or nothing could be decoded.)";

constexpr int kNotConforming = 4;

struct Options {
  ConformanceRequest request;
  std::vector<std::string> codecs;
  std::vector<std::string> without;
  std::string junit;
  bool json = false;
};

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

// Removes hints to `bulkhead crashes`: the records of the checks are in a
// temporary directory, and are gone when the user reads the report.
std::string WithoutRecords(std::string words) {
  constexpr std::string_view kBegin = "; see `bulkhead crashes show ";
  for (size_t at; (at = words.find(kBegin)) != std::string::npos;) {
    const size_t end = words.find('`', at + kBegin.size());
    words.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return words;
}

// Runs one check. Skips the check if --without names it, or if it needs a
// decoded clip and there is none.
Finding Run(Subject& subject, const Check& check, bool needs_clip,
            const std::vector<std::string>& without) {
  Finding finding{.check = check.name,
                  .clause = check.clause,
                  .verdict = Verdict::NotTried("no clip was decoded before")};
  for (const std::string& text : without) {
    if (check.name.find(text) == std::string::npos) continue;
    finding.verdict =
        Verdict::NotTried(fmt::format("left out by --without {}", text));
    return finding;
  }
  if (needs_clip && subject.clips().empty()) return finding;
  if (check.prepare) check.prepare(subject);
  finding.seconds = SecondsOf([&] { finding.verdict = check.run(subject); });
  finding.verdict =
      finding.verdict.InWords(WithoutRecords(finding.verdict.words()));
  if (finding.verdict.kind() == Verdict::Kind::kFailed) subject.ForgetHost();
  if (check.run_on_cpu && finding.verdict.passed() &&
      subject.backend().name != "cpu") {
    finding.cpu_seconds = SecondsOf([&] { check.run_on_cpu(subject); });
  }
  return finding;
}

// Returns the clips of the given codecs; all clips if the user named none.
Result<std::vector<ClipName>> ClipsOf(const std::vector<std::string>& codecs) {
  const std::vector<ClipName> known = NamesOfClips();
  if (codecs.empty()) return known;
  std::vector<ClipName> clips;
  for (const std::string& codec : codecs) {
    const size_t before = clips.size();
    std::copy_if(known.begin(), known.end(), std::back_inserter(clips),
                 [&](const ClipName& clip) { return clip.codec == codec; });
    if (clips.size() > before) continue;
    std::string names;
    for (const ClipName& clip : known) {
      if (clip.name == clip.codec) names += " " + clip.codec;
    }
    return Status(
        Code::kInvalidArgument,
        fmt::format("--codec {}: there are clips of{}", codec, names));
  }
  return clips;
}

// Returns the regular files of a directory, by name.
Result<std::vector<std::string>> FilesOf(const std::string& directory) {
  std::vector<std::string> files;
  if (directory.empty()) return files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    // A link to nowhere is skipped; it must not set `error`.
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  if (error) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--media: cannot read the directory {}: {}",
                              directory, error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Makes the directory that keeps clips, if the user names one.
Status MakeDirectory(const std::string& directory) {
  std::error_code error;
  if (!directory.empty()) {
    std::filesystem::create_directories(directory, error);
  }
  if (!error && !directory.empty() &&
      access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    error = {errno, std::generic_category()};
  }
  if (!error) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("--clips: cannot write the directory {}: {}",
                            directory, error.message()));
}

// Runs the checks, adds their findings, and prints a line for each.
void RunAll(const std::vector<Check>& checks, bool needs_clip, Subject& subject,
            const GlobalOptions& global, const Options& options,
            std::vector<Finding>& findings) {
  for (const Check& check : checks) {
    findings.push_back(Run(subject, check, needs_clip, options.without));
    if (options.json) {
      if (!global.quiet) Say(DescribeFinding(findings.back()));
    } else {
      Print(DescribeFinding(findings.back()));
      // Flushes, so that the user sees each line when its check ends.
      FinishPrinting();
    }
  }
}

bool Conforms(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.verdict.kind() == Verdict::Kind::kFailed;
  });
}

bool HasDecoded(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.check.starts_with("decodes ") && finding.verdict.passed();
  });
}

// Reports each text of --without that is in the name of no check.
void SayUnused(const std::vector<std::string>& without,
               const std::vector<Finding>& findings) {
  for (const std::string& text : without) {
    const bool left_out =
        std::ranges::any_of(findings, [&](const Finding& finding) {
          return finding.check.find(text) != std::string::npos;
        });
    if (!left_out) {
      Say(fmt::format("--without {}: no check has this in its name", text));
    }
  }
}

// Runs all checks on the backend and writes the reports. Returns the exit
// status.
int RunConformance(const GlobalOptions& global, const Options& options) {
  const auto clips = ClipsOf(options.codecs);
  if (!clips) return Fail(clips.error());
  const auto files = FilesOf(options.request.media);
  if (!files) return Fail(files.error());
  const Status kept = MakeDirectory(options.request.clips);
  if (!kept.ok()) return Fail(kept);
  const auto made = Subject::Make(global, options.request);
  if (!made) return Fail(made.error());
  Subject& subject = **made;
  // Opened before the checks, which take minutes, so that a wrong path is
  // reported at once.
  std::unique_ptr<writers::Output> junit;
  if (!options.junit.empty()) {
    auto opened = writers::Output::Open(options.junit);
    if (!opened) return Fail(opened.error().WithContext("--junit"));
    junit = *std::move(opened);
  }
  const Interruption interruption(subject.scratch());

  std::vector<Finding> findings;
  const auto run = [&](const std::vector<Check>& checks, bool needs_clip) {
    RunAll(checks, needs_clip, subject, global, options, findings);
  };
  if (!options.json) Print(DescribeSubject(subject) + "\n");
  run({LoadingCheck()}, false);
  const bool loads = findings.front().verdict.passed();
  if (loads && !subject.has_device()) {
    return Fail(Status(Code::kInvalidArgument,
                       fmt::format("{} has counted its devices, and {} is not "
                                   "among them; `bulkhead backends` lists them",
                                   options.request.backend, subject.device())));
  }
  if (loads) {
    run(DescriptionChecks(), false);
    run(DecodingChecks(subject, *clips, *files), false);
    run(AudioChecks(subject), false);
    run(AccessChecks(), true);
    run(ExaminationChecks(), true);
    run(ErrorChecks(), true);
    run(EnduranceChecks(), true);
  }
  if (junit) {
    const Status written = WriteJunit(subject, findings, *junit);
    if (!written.ok()) return Fail(written);
  }
  SayUnused(options.without, findings);
  if (!options.json) Print("\n" + Summarize(findings));
  // A backend passes only if it has decoded something.
  const bool conforms = Conforms(findings);
  const bool decoded = HasDecoded(findings);
  if (loads && conforms && !decoded) {
    Say("nothing was decoded, so that nothing is known of the backend: see "
        "what was not tried, and why");
  }
  const int printed =
      options.json ? PrintFacts(FactsOf(subject, findings)) : FinishPrinting();
  return WorseExitCode(printed, conforms && decoded ? 0 : kNotConforming);
}

}  // namespace

void AddConformanceCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<Options>(
      program, invocation, "conformance",
      "Test whether a backend keeps to the rules of bulkhead_backend.h",
      kExamples, RunConformance);
  command
      .AddOption("backend BACKEND", &options.request.backend,
                 "The backend, by the name that `bulkhead backends` lists")
      .Required();
  command.AddOption("--device,-d DEVICE", &options.request.device,
                    "The device (default: the first of the backend)");
  command
      .AddOption("--codec CODEC,...", &options.codecs,
                 "Make clips of these codecs only (default: all)")
      .SplitAt(',');
  command.AddOption("--media DIR", &options.request.media,
                    "Also decode the files of this directory, which are sound");
  command.AddOption(
      "--clips DIR", &options.request.clips,
      "Keep the clips, and what ffmpeg decodes from them, in this "
      "directory for other runs (default: make them anew)");
  command
      .AddOption("--without TEXT,...", &options.without,
                 "Leave out the checks that have this in their names, such as "
                 "leaks")
      .SplitAt(',');
  command.AddOption("--junit FILE", &options.junit,
                    "Also write the report as the XML of JUnit");
  command.AddFlag("--json", &options.json, "Print the report as JSON");
}

}  // namespace bulkhead::cli::conformance
