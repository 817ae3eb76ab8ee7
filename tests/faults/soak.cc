// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/soak.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/faults/soak_media.h"
#include "tests/faults/soak_plan.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kLargestWindow = 1000;

double ResidentKib(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

double Descriptors(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator entries(
      "/proc/" + std::to_string(pid) + "/fd", gone);
  return gone
             ? 0
             : static_cast<double>(std::distance(begin(entries), end(entries)));
}

class Soak {
 public:
  explicit Soak(const SoakOptions& options)
      : options_(options),
        window_size_(
            std::clamp<uint64_t>(options.faults / 10, 1, kLargestWindow)),
        next_(options.start_at) {
    HostOptions host = installation_.options();
    // Each kill of a reaper gives all sessions a death for which nobody is to
    // blame.
    host.limits.restarts_per_position = 64;
    host.limits.kills_per_position = 64;
    host.deadlines.open = kShort;
    host.deadlines.seek = kShort;
    host.deadlines.frame = kShort;
    host_ = Host::Create(host).value();
    files_ = SoakFiles(*host_, "chaos");
    for (const SoakFile& file : files_) {
      lengths_.push_back(file.frames.size());
    }
  }

  SoakReport Run() {
    if (files_.empty()) return {};
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.sessions; ++i) {
      threads.emplace_back([this] {
        for (;;) {
          const uint64_t number = next_++;
          if (number >= options_.start_at + options_.faults) return;
          Perform(number);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return std::move(report_);
  }

 private:
  void Perform(uint64_t number) {
    const SoakPlan plan = DrawPlan(options_.seed, number, lengths_);
    const SoakFile& file = files_[plan.file];
    const bool indexed = plan.indexed && file.indexed;
    std::string failure;
    uint64_t restarts = 0;
    size_t frames = 0;
    bool happened = false;
    VideoOptions options = ChaosInstallation::Stream(plan.faults);
    options.on_corrupt = OnCorrupt::kSkip;
    auto video = host_->OpenVideo(file.path, options);
    if (!video) {
      failure = "open: " + video.error().ToString();
    } else {
      const size_t asked =
          indexed ? plan.indices.size() : file.frames.size() + 1;
      for (size_t i = 0; i < asked && failure.empty(); ++i) {
        if (i == plan.before_frame) happened = Strike(plan, *video);
        failure = indexed ? TakeIndexed(*video, file, plan.indices[i])
                          : TakeNext(*video, file, i);
      }
      frames = asked;
      restarts = video->recovery().restarts;
    }
    video = Status(Code::kNotFound, "closed");
    Record(number, plan, file, failure, frames, restarts,
           happened || restarts > 0);
  }

  // Kills the victim of the plan. Returns false if there was no process left.
  bool Strike(const SoakPlan& plan, VideoDecoder& video) {
    using Victim = SoakPlan::Victim;
    pid_t pid = 0;
    switch (plan.victim) {
      case Victim::kNobody:
        return false;
      case Victim::kWorker:
        pid = video.worker_pid();
        break;
      case Victim::kSupervisor:
        pid = host_->supervisor_pid();
        break;
      case Victim::kZygote:
      case Victim::kReaper: {
        const auto report = host_->Backends();
        if (!report) return false;
        for (const BackendInfo& backend : report->backends) {
          if (backend.name != "chaos") continue;
          pid = plan.victim == Victim::kZygote ? backend.zygote_pid
                                               : backend.reaper_pid;
        }
        break;
      }
    }
    return ProcessWatch(pid).Signal(plan.signal);
  }

  static std::string TakeNext(VideoDecoder& video, const SoakFile& file,
                              size_t i) {
    const auto frame = video.Next();
    const std::string at = "frame " + std::to_string(i) + ": ";
    if (!frame) return at + frame.error().ToString();
    if (!*frame) {
      return i == file.frames.size() ? "" : at + "the stream ended";
    }
    if (i == file.frames.size()) return at + "came after the last";
    return HashOf(**frame) == file.frames[i] ? "" : at + "is another";
  }

  static std::string TakeIndexed(VideoDecoder& video, const SoakFile& file,
                                 size_t index) {
    const auto frame = video.FrameAt(static_cast<int64_t>(index));
    const std::string at = "index " + std::to_string(index) + ": ";
    if (!frame) return at + frame.error().ToString();
    return HashOf(*frame) == file.frames[index] ? "" : at + "is another";
  }

  void Record(uint64_t number, const SoakPlan& plan, const SoakFile& file,
              const std::string& failure, size_t frames, uint64_t restarts,
              bool happened) {
    const pid_t supervisor = host_->supervisor_pid();
    const std::lock_guard lock(mutex_);
    report_.frames += frames;
    report_.restarts += restarts;
    report_.happened += happened;
    if (!failure.empty()) {
      report_.failures.push_back("fault " + std::to_string(number) + ", " +
                                 file.name + ", " + plan.Describe() + ": " +
                                 failure);
      std::printf("FAILED %s\n", report_.failures.back().c_str());
    }
    if (report_.done++ % window_size_ == 0) {
      PrintWindow();
      report_.windows.push_back(
          {.first = options_.start_at + report_.done - 1});
    }
    SoakWindow& window = report_.windows.back();
    ++window.samples;
    const auto add = [&window](double& mean, double value) {
      mean += (value - mean) / static_cast<double>(window.samples);
    };
    add(window.descriptors, Descriptors(getpid()));
    add(window.resident_kib, ResidentKib(getpid()));
    add(window.supervisor_descriptors, Descriptors(supervisor));
    add(window.supervisor_resident_kib, ResidentKib(supervisor));
    add(window.processes,
        static_cast<double>(DescendantsOf(supervisor).size()));
    if (report_.done == options_.faults) PrintWindow();
  }

  void PrintWindow() const {
    if (report_.windows.empty()) return;
    const SoakWindow& w = report_.windows.back();
    std::printf(
        "from %6llu: %4llu faults, means: here %5.1f fds %7.0f KiB, bulkheadd "
        "%5.1f fds %6.0f KiB, %4.1f processes\n",
        static_cast<unsigned long long>(w.first),
        static_cast<unsigned long long>(w.samples), w.descriptors,
        w.resident_kib, w.supervisor_descriptors, w.supervisor_resident_kib,
        w.processes);
    std::fflush(stdout);
  }

  const SoakOptions options_;
  const uint64_t window_size_;
  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::vector<SoakFile> files_;
  std::vector<size_t> lengths_;
  std::atomic<uint64_t> next_;
  std::mutex mutex_;
  SoakReport report_;  // guarded by mutex_
};

}  // namespace

SoakReport RunSoak(const SoakOptions& options) { return Soak(options).Run(); }

}  // namespace bulkhead::tests
