// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"
#include "tools/cli/batch/batch_inputs.h"
#include "tools/cli/batch/batch_recipe.h"
#include "tools/cli/batch/batch_report.h"
#include "tools/cli/batch/batch_run.h"
#include "tools/cli/batch/batch_stop.h"
#include "tools/cli/command_line.h"
#include "tools/cli/decode/decode_jobs.h"
#include "tools/cli/decode/decode_options.h"
#include "tools/cli/decode/progress.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::batch {
namespace {

using bulkhead::batch::Item;

constexpr char kExamples[] = R"(Examples:
  bulkhead batch *.mp4 -o out                    hashes of all frames
  bulkhead batch *.mp4 --format png --at 0,-1 -o out
  bulkhead batch *.mp4 --audio --sample-rate 16000 -o out
  find /media -name '*.mp4' -print0 |
      bulkhead batch --files-from - --null --relative-to /media -o out
  bulkhead batch --files-from list --shard 3/8 -o /shared/out

FORMAT is one of those of `bulkhead decode`. The output of clip.mp4 is
DIR/clip.mp4.FORMAT; with png, a directory of files that are numbered by frame
index. An output is written elsewhere and renamed when it is complete, so that
whatever is killed leaves whole outputs only.

DIR/manifest.jsonl has one line of JSON for each file: its path, size and
SHA-256, the options, the versions, the tier of the sandbox, the output, the
number of frames, what is damaged and the notes, how often a worker was replaced,
and the error, if there is one.

The same command does what is missing: files without a line, files whose size or
time of modification has changed, outputs that are gone or have another size,
and all if the options have changed. Contents are not compared. An error about a file is its
result, and is not tried again. What was lost to a backend that failed, to a
deadline or to a limit is tried up to three times in each run.

Shard I of N decodes every Nth file of the sorted list, so all shards must be
given the same files. They may run at the same time, on any machines, into one
DIR, and leave together what one run leaves, byte for byte. A file whose contents
kill workers is tried once for all of them, also under other names. The shard that
finds a line for every file writes manifest.jsonl; until then the lines are in
DIR/.batch/manifest. A run without --shard always writes it.

The exit status is that of the worst file, those of earlier runs included: 1 if
there is any, else the highest. 4 means that running again may help, 3 that it
does not.)";

struct Options {
  decode::DecodeOptions decode;
  std::string files_from;
  bool nul_separated = false;
  std::string relative_to;
  std::string directory;
  std::string shard = "1/1";
  size_t jobs = 0;  // 0 stands for the number of processors.
};

size_t Processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<size_t>(CPU_COUNT(&set));
}

// Returns the job for all files. Its file and output are placeholders.
Result<decoding::Job> ParseJob(decode::DecodeOptions options) {
  options.files = {"FILE"};
  options.output = options.format == "png" ? "%06d.png" : "OUTPUT";
  options.json = false;
  Result<std::vector<decoding::Job>> jobs = decode::ParseJobs(options);
  if (!jobs) return jobs.error();
  return std::move(jobs->front());
}

// Returns the files of the command line and of --files-from, and their outputs.
Result<std::vector<Item>> ParseItems(const Options& options,
                                     const std::string& format) {
  std::vector<std::string> inputs = options.decode.files;
  if (!options.files_from.empty()) {
    Result<std::vector<std::string>> listed =
        ReadList(options.files_from, options.nul_separated);
    if (!listed) return listed.error();
    inputs.insert(inputs.end(), listed->begin(), listed->end());
  }
  if (inputs.empty()) {
    return Status(Code::kInvalidArgument,
                  "there is no file to decode; name some, or a list of them "
                  "with --files-from (see bulkhead batch --help)");
  }
  return bulkhead::batch::PlanOutputs(std::move(inputs), options.relative_to,
                                      format);
}

// Starts the backends before the first file, so that a wrong device is an error
// of the command and not of each file.
Result<std::unique_ptr<Host>> StartHost(const GlobalOptions& global,
                                        const VideoOptions& video) {
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return host.error();
  for (const std::string& device : {video.device, video.on_failure}) {
    if (device.empty()) continue;
    if (Status status = (*host)->Prewarm(device); !status.ok()) return status;
  }
  return host;
}

// Decodes `items`, the files that have no result from earlier runs. `recipe`
// lacks the makers (versions of the software), which only a Host knows.
Status Decode(const GlobalOptions& global, const Options& options,
              bulkhead::batch::Recipe recipe, decoding::Job job,
              const std::vector<Item>& items,
              const bulkhead::batch::Directory& directory,
              const bulkhead::batch::Records& records, BatchReport& report) {
  if (job.video.device.empty()) job.video.device = "cpu";
  Result<std::unique_ptr<Host>> host = StartHost(global, job.video);
  if (!host) return host.error();
  Result<bulkhead::batch::Record> makers =
      bulkhead::batch::MakersForRecords(**host, job.video.device);
  if (!makers) return makers.error();
  recipe.makers = *std::move(makers);
  const size_t threads =
      std::min(options.jobs == 0 ? Processors() : options.jobs, items.size());
  Result<std::unique_ptr<BatchStop>> stop = BatchStop::Create(threads);
  if (!stop) return stop.error();
  BatchRun run(**host, directory, records, recipe, std::move(job), report,
               **stop);
  Status status = run.Run(items, threads);
  report.FinishProgress();
  return status;
}

// Returns whether this run writes manifest.jsonl: always without shards, else
// if every input has a record.
bool IsLast(const BatchShard& shard, const std::vector<Item>& all,
            const bulkhead::batch::Records& records) {
  return shard.count == 1 ||
         std::all_of(all.begin(), all.end(),
                     [&](const Item& item) { return records.Has(item); });
}

// Decodes the files of the shard that have no result from an earlier run, and
// reports the results of all runs. Returns the exit status.
int RunBatch(const GlobalOptions& global, const Options& options) {
  const Result<decoding::Job> job = ParseJob(options.decode);
  if (!job) return Fail(job.error());
  const Result<BatchShard> shard = ParseShard(options.shard);
  if (!shard) return Fail(shard.error());
  const auto all = ParseItems(options, job->format);
  if (!all) return Fail(all.error());
  const auto directory = bulkhead::batch::Directory::Open(options.directory);
  if (!directory) return Fail(directory.error());

  const bulkhead::batch::Record words =
      OptionsForRecords(options.decode, global, job->format);
  const bulkhead::batch::Records records(**directory, words);
  const std::vector<Item> mine = ItemsOf(*shard, *all);
  decode::Progress::Shown shown = decode::Progress::Shown::kOnTerminals;
  if (options.decode.progress) shown = decode::Progress::Shown::kAlways;
  if (global.quiet) shown = decode::Progress::Shown::kNever;
  BatchReport report(mine.size(), shown, global.quiet);
  std::vector<Item> missing;
  for (const Item& item : mine) {
    if (const auto record =
            records.Find(item, bulkhead::batch::StampOf(item.input))) {
      report.CountEarlier(*record);
    } else {
      missing.push_back(item);
    }
  }

  Status status;
  if (!missing.empty()) {
    status = Decode(global, options,
                    {.options = words,
                     .suffix = job->format,
                     .has_output = job->format != "null",
                     .has_frames = !job->audio},
                    *job, missing, **directory, records, report);
  }
  if (status.ok() && IsLast(*shard, *all, records)) {
    status = (*directory)->Join();  // Writes manifest.jsonl.
  }
  report.SaySummary(!status.ok() && status.code() != Code::kCancelled);
  int exit_code = report.exit_code();
  if (options.decode.json) {
    exit_code = WorseExitCode(exit_code, PrintFacts(report.Facts(*shard)));
  }
  return status.ok() ? exit_code : Fail(status);
}

}  // namespace

void AddBatchCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<Options>(
      program, invocation, "batch",
      "Decode many files into a directory, in shards, resumably", kExamples,
      RunBatch);
  command.AddOption("FILE", &options.decode.files, "The files");
  command.AddOption("--files-from LIST", &options.files_from,
                    "Read more files from this list, one on each line; - is "
                    "stdin");
  command.AddFlag("--null", &options.nul_separated,
                  "The names in LIST end with NUL, as find -print0 writes "
                  "them");
  command.AddOption("--relative-to ROOT", &options.relative_to,
                    "Keep the directories between ROOT and a file below DIR "
                    "(default: none are kept)");
  command
      .AddOption("-o,--output DIR", &options.directory,
                 "The directory of the outputs; created if it is missing")
      .Required();
  command.AddOption("--shard I/N", &options.shard,
                    "Decode only shard I of N, I from 1 to N");
  command
      .AddOption("--jobs N", &options.jobs,
                 "Decode this many files at once (default: the processors "
                 "that this process may use)")
      .Range(1, 1024);
  decode::AddDecodeOptions(command, options.decode);
  command.AddFlag("--json", &options.decode.json,
                  "Print the summary as JSON on stdout");
  command.AddFlag("--progress", &options.decode.progress,
                  "Show files, frames and failures while it runs, also where "
                  "stderr is no terminal");
}

}  // namespace bulkhead::cli::batch
