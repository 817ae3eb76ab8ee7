// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/installation.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/escape/listeners.h"
#include "tests/media/generated_clips.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

std::atomic<int> signals_received = 0;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteForAll(const fs::path& path, const std::string& content) {
  std::ofstream(path) << content;
  fs::permissions(path, fs::perms(0777));
}

Status DecodeAll(VideoDecoder& video, const std::vector<std::string>& hashes) {
  for (size_t index = 0;; ++index) {
    const auto frame = video.Next();
    if (frame && *frame && index < hashes.size()) {
      EXPECT_EQ(HashOf(**frame), hashes[index]) << "frame " << index;
      continue;
    }
    EXPECT_EQ(index, hashes.size()) << "frames";
    return frame ? Status() : frame.error();
  }
}

}  // namespace

std::unique_ptr<Installation> Installation::Make(bool reduced) {
  std::unique_ptr<Installation> made(new Installation);
  if (!made->Prepare(reduced)) return nullptr;
  return made;
}

bool Installation::Prepare(bool reduced) {
  const auto clip = Generate(Clip::kOddSize);
  if (!clip) {
    if (clip.error().code() != Code::kNotFound) ADD_FAILURE() << clip.error();
    return false;
  }
  media_ = *clip;
  auto reference = HashesByFfmpeg(media_);
  if (!reference) {
    ADD_FAILURE() << reference.error();
    return false;
  }
  hashes_ = *std::move(reference);
  media_before_ = ReadAll(media_);
  // Makes the file writable, so that only the read-only descriptor protects it.
  fs::permissions(media_, fs::perms(0666));
  signal(SIGUSR1, [](int) { ++signals_received; });
  signal(SIGABRT, [](int) { ++signals_received; });

  char directory[] = "/tmp/escape-XXXXXX";
  if (mkdtemp(directory) == nullptr) return false;
  directory_ = directory;
  fs::permissions(directory_, fs::perms(0777));
  targets_.reduced = reduced;
  targets_.application_pid = getpid();
  targets_.secret_file = directory_ + "/secret.txt";
  WriteForAll(targets_.secret_file, "secret");
  targets_.other_file = directory_ + "/other/libother.so";
  fs::create_directory(directory_ + "/other");
  fs::permissions(directory_ + "/other", fs::perms(0755));
  WriteForAll(targets_.other_file, "of another backend");
  targets_.unix_path = directory_ + "/socket";
  targets_.abstract_name = "bulkhead-escape-" + std::to_string(getpid());
  tcp_ = ListenTcp(&targets_.tcp_port);
  unix_ = ListenUnix(targets_.unix_path);
  abstract_ = ListenUnix(std::string(1, '\0') + targets_.abstract_name);
  if (!tcp_ || !unix_ || !abstract_) {
    ADD_FAILURE() << "cannot listen";
    return false;
  }
  fs::permissions(targets_.unix_path, fs::perms(0777));
  return StartSibling();
}

Installation::~Installation() {
  signal(SIGUSR1, SIG_DFL);
  signal(SIGABRT, SIG_DFL);
  if (!directory_.empty()) fs::remove_all(directory_);
}

bool Installation::StartSibling() {
  // In the reduced tier, a backend runs under a uid of its own and opens its
  // files by their paths. So the files are copied to a place that every user
  // may read.
  libexec_ = directory_ + "/libexec";
  CopyForAll(LibexecDirectory(), libexec_);
  auto host = Host::Create({.plugin_path = std::vector<std::string>(),
                            .sandbox_floor = SandboxTier::kReduced,
                            .libexec_dir = libexec_});
  if (!host) {
    ADD_FAILURE() << host.error();
    return false;
  }
  sibling_host_ = *std::move(host);
  auto video = sibling_host_->OpenVideo(media_, {.device = "cpu"});
  if (!video) {
    ADD_FAILURE() << video.error();
    return false;
  }
  targets_.sibling_pid = video->worker_pid();
  sibling_.emplace(*std::move(video));
  return true;
}

std::unique_ptr<Host> Installation::StartHost(const std::string& deed,
                                              const Deadlines& deadlines,
                                              Start start) const {
  // A host that runs would load its backend anew if its files were replaced.
  const fs::path plugins = directory_ + "/plugins" + std::to_string(++hosts_);
  CopyForAll(DistributionDirectory(), plugins);
  const fs::path module = plugins / "bulkhead_escape_table";
  WriteForAll(module / "targets.txt", targets_.Write());
  WriteForAll(module / "deed.txt", deed + "\n");
  WriteForAll(module / kMappedFile, std::string(kMappedBytes, 'x'));
  std::ofstream(plugins / "bulkhead_escape_table-0.1.0.dist-info" / "RECORD",
                std::ios::app)
      << "bulkhead_escape_table/targets.txt,,\n"
      << "bulkhead_escape_table/deed.txt,,\n"
      << "bulkhead_escape_table/" << kMappedFile << ",,\n";
  mapped_file_ = module / kMappedFile;

  HostOptions options;
  options.libexec_dir = libexec_;
  options.plugin_path = {plugins.string()};
  options.autoload = true;
  options.sandbox_floor = SandboxTier::kReduced;
  options.limits.attempts_per_position = 1;
  if (start == Start::kExec) options.backends_exec = {"escape"};
  options.deadlines = deadlines;
  // The zygote makes all of its attempts while the backend starts.
  options.deadlines.backend_start = std::chrono::seconds(60);
  return Host::Create(options).value();
}

Result<VideoDecoder> Installation::Open(Host& host, const std::string& option,
                                        const std::string& value,
                                        uint32_t threads) const {
  VideoOptions options;
  options.device = "escape";
  options.threads = threads;
  if (!option.empty()) options.backend_options = {{option, value}};
  return host.OpenVideo(media_, options);
}

Status Installation::Decode(Host& host, const std::string& option,
                            const std::string& value) const {
  auto video = Open(host, option, value);
  return video ? DecodeAll(*video, hashes_) : video.error();
}

void Installation::ExpectUnharmed() {
  EXPECT_EQ(ReadAll(media_), media_before_) << "the input was written";
  EXPECT_EQ(signals_received, 0) << "the application was signalled";
  for (const auto* listener : {&tcp_, &unix_, &abstract_}) {
    EXPECT_LT(accept(listener->get(), nullptr, nullptr), 0) << "connected";
  }
  EXPECT_EQ(sibling_->worker_pid(), targets_.sibling_pid);
  const Status status = DecodeAll(*sibling_, hashes_);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(sibling_->recovery().restarts, 0u);
  sibling_->Rewind();
}

}  // namespace bulkhead::tests
