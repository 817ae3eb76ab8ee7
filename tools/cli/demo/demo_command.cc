// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "core/application/writers/contact_sheet.h"
#include "core/application/writers/png_writer.h"
#include "core/base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/demo/disturbed_run.h"
#include "tools/cli/demo/sample_clip.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::demo {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead demo
  bulkhead demo --output /tmp/sheet.png

Needs the ffmpeg program to make a clip. Exits with 0 only if all frames of all
runs are equal, byte for byte.)";

constexpr writers::ContactSheet::Color kPlain{0x50, 0x50, 0x50};
constexpr writers::ContactSheet::Color kRecovered{0xe0, 0x20, 0x20};
constexpr const char* kDevices[] = {"cpu", "openreg"};
constexpr uint32_t kColumns = 6;
constexpr uint32_t kCellsPerDevice = 24;
constexpr uint32_t kCellWidth = 160;

struct DemoOptions {
  std::string output = "bulkhead-demo.png";
};

void SayIncident(const std::string& device, const Incident& incident) {
  std::string killed = fmt::format("session worker {}", incident.worker_pid);
  if (incident.zygote_pid != 0) {
    killed = fmt::format("zygote {} and {}", incident.zygote_pid, killed);
  }
  Say(fmt::format("{}: before frame {}, SIGKILL to {}", device, incident.frame,
                  killed));
  Say(
      fmt::format("{}:   {} more frames were already here; frame {} came from "
                  "a new worker, {}, after a wait of {:.1f} ms",
                  device, incident.frames_ahead, incident.recovered_at,
                  incident.new_worker_pid, incident.waited_ms));
}

// Returns the number of frames with the same hash as in the undisturbed run.
size_t CountEqual(const std::vector<std::string>& frames,
                  const std::vector<std::string>& undisturbed) {
  size_t equal = 0;
  for (size_t i = 0; i < std::min(frames.size(), undisturbed.size()); ++i) {
    if (frames[i] == undisturbed[i]) ++equal;
  }
  return equal;
}

// Decodes the clip on one device without and with killed processes, and draws
// the disturbed run into the sheet. Sets `all_equal` to false if the runs
// differ. Returns the hashes of the undisturbed run.
Result<std::vector<std::string>> ShowDevice(Host& host, const std::string& clip,
                                            const std::string& device,
                                            const SampleClip& sample,
                                            writers::ContactSheet& sheet,
                                            uint32_t first_cell,
                                            bool& all_equal) {
  ASSIGN_OR_RETURN(
      const RunResult undisturbed,
      DecodeDisturbed(host, clip, device, {}, [](const Frame&, bool) {}));
  uint64_t frames = 0;
  const uint32_t interval = sample.frames / kCellsPerDevice;
  // Kills the worker after a third of the frames, and both the zygote and the
  // worker after two thirds.
  Result<RunResult> disturbed = DecodeDisturbed(
      host, clip, device,
      {{sample.frames / 3, false}, {sample.frames * 2 / 3, true}},
      [&](const Frame& frame, bool recovered) {
        const uint64_t cell = frames++ / interval;
        if (cell >= kCellsPerDevice) return;
        // A cell shows the first frame of its interval. The first frame after a
        // recovery replaces it, if there is one in the interval.
        if ((frames - 1) % interval != 0 && !recovered) return;
        sheet.Place(first_cell + static_cast<uint32_t>(cell),
                    writers::PictureOf(frame), recovered ? kRecovered : kPlain);
      });
  if (!disturbed) return disturbed.error();
  for (const Incident& incident : disturbed->incidents) {
    SayIncident(device, incident);
  }
  const size_t equal = CountEqual(disturbed->hashes, undisturbed.hashes);
  const bool complete = undisturbed.hashes.size() == sample.frames &&
                        disturbed->hashes.size() == sample.frames &&
                        disturbed->incidents.size() == 2;
  Say(fmt::format("{}: {} of {} frames have the hash of the undisturbed run{}",
                  device, equal, undisturbed.hashes.size(),
                  complete ? "" : "; THE RUNS ARE NOT COMPLETE"));
  all_equal = all_equal && complete && equal == undisturbed.hashes.size();
  return undisturbed.hashes;
}

int RunDemo(const GlobalOptions& global, const DemoOptions& options) {
  const TemporaryDirectory directory;
  if (directory.path().empty()) {
    return Fail(Status(Code::kInvalidArgument,
                       "cannot make a temporary directory; is TMPDIR "
                       "writable?"));
  }
  const SampleClip sample;
  const std::string clip = directory.path() + "/clip.mp4";
  if (Status status = MakeSampleClip(sample, clip); !status.ok()) {
    return Fail(status);
  }
  Say(fmt::format("made a clip: {} frames of {}x{}, H.264", sample.frames,
                  sample.width, sample.height));
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());

  writers::ContactSheet sheet(kCellsPerDevice * std::size(kDevices), kColumns,
                              kCellWidth, sample.width, sample.height);
  bool all_equal = true;
  uint32_t first_cell = 0;
  std::vector<std::string> reference;
  for (const char* device : kDevices) {
    Result<std::vector<std::string>> hashes =
        ShowDevice(**host, clip, device, sample, sheet, first_cell, all_equal);
    if (!hashes) return Fail(hashes.error());
    if (reference.empty()) reference = *hashes;
    if (*hashes != reference) {
      Say(fmt::format("{} and {} DIFFER", kDevices[0], device));
      all_equal = false;
    }
    first_cell += kCellsPerDevice;
  }
  Status written = writers::WritePngFile(sheet.picture(), options.output);
  if (!written.ok()) return Fail(written);
  Say(fmt::format("contact sheet, red where a new worker took over: {}",
                  options.output));
  if (!all_equal) {
    return Fail(Status(Code::kInternal, "not all frames are equal"));
  }
  Say("all frames of all runs are equal, on all devices");
  return 0;
}

}  // namespace

void AddDemoCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<DemoOptions>(
      program, invocation, "demo",
      "Kill decoders in mid-stream and compare every frame", kExamples,
      RunDemo);
  command.AddOption("--output,-o PNG", &options.output,
                    "The contact sheet (default bulkhead-demo.png)");
}

}  // namespace bulkhead::cli::demo
