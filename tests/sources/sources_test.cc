// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "bulkhead/host.h"
#include "ipc/unique_fd.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Bytes = std::vector<std::byte>;

Bytes BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// A reader that serves `bytes`. Fails the test if the library calls the reader
// outside the API call that the test has marked as running.
struct Server {
  Bytes bytes;
  size_t most = SIZE_MAX;  // at a time
  bool inside = false;
  std::thread::id thread = std::this_thread::get_id();
  int calls = 0;
  int fails_at = -1;  // this call, and it alone

  Result<size_t> Read(uint64_t offset, std::span<std::byte> out) {
    EXPECT_TRUE(inside);
    EXPECT_EQ(std::this_thread::get_id(), thread);
    EXPECT_LT(offset, bytes.size());
    if (calls++ == fails_at) return Status(Code::kInternal, "no route to it");
    const size_t count =
        std::min({out.size(), most, bytes.size() - size_t{offset}});
    std::memcpy(out.data(), bytes.data() + offset, count);
    return count;
  }
  SourceReader reader() {
    return {
        .read = [this](uint64_t offset,
                       std::span<std::byte> out) { return Read(offset, out); },
        .bytes = bytes.size()};
  }
  template <typename Call>
  auto Inside(const Call& call) {
    inside = true;
    auto result = call();
    inside = false;
    return result;
  }
};

class Sources : public testing::Test {
 protected:
  void SetUp() override {
    path_ = ClipOrSkip(Clip::kH264);
    if (path_.empty()) return;
    reference_ = HashesByFfmpeg(path_).value();
    server_.bytes = BytesOf(path_);
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  Result<VideoDecoder> Open(const Source& source, const char* device = "cpu") {
    return server_.Inside(
        [&] { return host_->OpenVideo(source, {.device = device}); });
  }

  // Returns all frames of Next(). If `killing`, kills the worker before some
  // frames.
  std::vector<std::string> Decode(VideoDecoder& video, bool killing) {
    std::vector<std::string> hashes;
    for (;;) {
      if (killing && hashes.size() % 40 == 10) {
        const ProcessWatch worker(video.worker_pid());
        if (worker.Signal(SIGKILL)) {
          EXPECT_TRUE(worker.AwaitEnd());
        }
      }
      auto frame = server_.Inside([&] { return video.Next(); });
      if (!frame) ADD_FAILURE() << hashes.size() << ": " << frame.error();
      if (!frame || !*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }

  void ExpectWorks(const Source& source) {
    for (const char* device : {"cpu", "openreg:1"}) {
      SCOPED_TRACE(device);
      auto video = Open(source, device);
      ASSERT_TRUE(video) << video.error();
      EXPECT_EQ(Decode(*video, false), reference_);
      auto count = server_.Inside([&] { return video->FrameCount(); });
      ASSERT_TRUE(count) << count.error();
      EXPECT_EQ(*count, reference_.size());
      for (const int64_t index : {-1, 0, 61}) {
        auto frame = server_.Inside([&] { return video->FrameAt(index); });
        ASSERT_TRUE(frame) << frame.error();
        EXPECT_EQ(HashOf(*frame), reference_.at(static_cast<size_t>(
                                      index < 0 ? index + 120 : index)));
      }
      video->Rewind();
      EXPECT_EQ(Decode(*video, true), reference_);
      EXPECT_GE(video->recovery().restarts, 2u);
    }
  }

  Host& host() { return *host_; }
  const std::string& path() const { return path_; }
  Server& server() { return server_; }
  const std::vector<std::string>& reference() const { return reference_; }

 private:
  std::string path_;
  std::vector<std::string> reference_;
  Server server_;
  std::unique_ptr<Host> host_;
};

TEST_F(Sources, APath) { ExpectWorks(path()); }

TEST_F(Sources, MemoryThatIsTheDecodersOwn) {
  Bytes bytes = BytesOf(path());
  const auto source = Source::FromMemory(bytes, "clip.mp4");
  ASSERT_TRUE(source) << source.error();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  ExpectWorks(*source);
}

TEST_F(Sources, ADescriptorWhoseOffsetStaysAndThatTheWorkerCannotWrite) {
  const std::string copy = TemporaryDirectory() + "/descriptor.mp4";
  std::filesystem::copy_file(path(), copy,
                             std::filesystem::copy_options::overwrite_existing);
  ipc::UniqueFd fd(::open(copy.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::lseek(fd.get(), 777, SEEK_SET), 777);
  const auto source = Source::FromDescriptor(fd.get(), "clip.mp4");
  ASSERT_TRUE(source) << source.error();
  ExpectWorks(*source);
  EXPECT_EQ(::lseek(fd.get(), 0, SEEK_CUR), 777);

  auto video = Open(*source);
  ASSERT_TRUE(video) << video.error();
  const std::string process = "/proc/" + std::to_string(video->worker_pid());
  int found = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(process + "/fd", error)) {
    if (std::filesystem::read_symlink(entry, error).filename() !=
        "descriptor.mp4") {
      continue;
    }
    ++found;
    std::ifstream info(process + "/fdinfo/" + entry.path().filename().string());
    for (std::string word; info >> word;) {
      if (word != "flags:") continue;
      info >> word;
      EXPECT_EQ(std::stoul(word, nullptr, 8) & O_ACCMODE, O_RDONLY);
    }
  }
  if (::geteuid() == 0) {
    EXPECT_EQ(found, 1);
  }
  fd.reset();
  EXPECT_EQ(Decode(*video, true), reference());
}

TEST_F(Sources, AMemfd) {
  const ipc::UniqueFd memory(::memfd_create("clip", MFD_CLOEXEC));
  const Bytes bytes = BytesOf(path());
  ASSERT_EQ(::write(memory.get(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  const auto source = Source::FromDescriptor(memory.get());
  ASSERT_TRUE(source) << source.error();
  ExpectWorks(*source);
}

TEST_F(Sources, AReaderThatIsCalledInsideOfCallsAlone) {
  const auto source = Source::FromReader(server().reader(), "clip.mp4");
  ASSERT_TRUE(source) << source.error();
  ExpectWorks(*source);
}

TEST_F(Sources, AReaderThatGivesLittleAtATime) {
  server().most = 1000;
  const auto source = Source::FromReader(server().reader());
  ASSERT_TRUE(source) << source.error();
  auto video = Open(*source);
  ASSERT_TRUE(video) << video.error();
  EXPECT_EQ(Decode(*video, false), reference());
}

TEST_F(Sources, AReaderThatSeeks) {
  int64_t at = 0;
  SeekingReader reader;
  reader.read = [&](std::span<std::byte> out) {
    const auto got = server().Read(static_cast<uint64_t>(at), out);
    if (got) at += static_cast<int64_t>(*got);
    return got;
  };
  reader.seek = [&](int64_t offset, int whence) -> Result<int64_t> {
    const auto size = static_cast<int64_t>(server().bytes.size());
    at = offset + (whence == SEEK_END ? size : whence == SEEK_CUR ? at : 0);
    return at;
  };
  const auto source = Source::FromReader(reader);
  ASSERT_TRUE(source) << source.error();
  ExpectWorks(*source);
}

TEST_F(Sources, AReadersFailureEndsTheCallAndTheNextGoesOn) {
  for (int call = 0; call < 3; ++call) {
    SCOPED_TRACE(call);
    server().calls = 0;
    server().fails_at = call;
    const auto source = Source::FromReader(server().reader(), "clip.mp4");
    ASSERT_TRUE(source);
    auto video = Open(*source);
    if (!video) {
      EXPECT_EQ(video.error().code(), Code::kInvalidArgument);
      EXPECT_NE(video.error().message().find("no route to it"),
                std::string::npos)
          << video.error();
      video = Open(*source);
    }
    ASSERT_TRUE(video) << video.error();
    std::vector<std::string> hashes;
    int failures = 0;
    while (failures < 3) {
      auto frame = server().Inside([&] { return video->Next(); });
      if (!frame) {
        EXPECT_EQ(frame.error().code(), Code::kInvalidArgument);
        ++failures;
        continue;
      }
      if (!*frame) break;
      hashes.push_back(HashOf(**frame));
    }
    EXPECT_LE(failures, 1);
    EXPECT_EQ(hashes, reference());
    EXPECT_EQ(video->recovery().restarts, 0u) << "nobody died";
  }
}

TEST_F(Sources, AnExceptionOfAReaderIsItsFailure) {
  bool throws = true;
  SourceReader reader = server().reader();
  reader.read = [&, read = reader.read](uint64_t offset,
                                        std::span<std::byte> out) {
    if (throws) throw std::runtime_error("no route to it");
    return read(offset, out);
  };
  const auto source = Source::FromReader(reader, "clip.mp4");
  ASSERT_TRUE(source) << source.error();
  const auto failed = Open(*source);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kInvalidArgument);
  EXPECT_NE(failed.error().message().find("no route to it"), std::string::npos)
      << failed.error();
  throws = false;
  auto video = Open(*source);
  ASSERT_TRUE(video) << video.error();
  throws = true;
  Code code = Code::kOk;
  std::vector<std::string> hashes;
  for (;;) {
    const auto frame = server().Inside([&] { return video->Next(); });
    if (!frame) {
      code = frame.error().code();
      throws = false;
      continue;
    }
    if (!*frame) break;
    hashes.push_back(HashOf(**frame));
  }
  EXPECT_EQ(hashes, reference());
  EXPECT_TRUE(code == Code::kOk || code == Code::kInvalidArgument);
}

TEST_F(Sources, SeekersThatFailOrLieAreWrongArguments) {
  SeekingReader reader;
  reader.read = [&](std::span<std::byte> out) { return server().Read(0, out); };
  reader.seek = [](int64_t, int) -> Result<int64_t> {
    return Status(Code::kNotFound, "it is gone");
  };
  EXPECT_EQ(Source::FromReader(reader).error().code(), Code::kNotFound);
  reader.seek = [](int64_t, int) -> Result<int64_t> { return -1; };
  EXPECT_EQ(Source::FromReader(reader).error().code(), Code::kInvalidArgument);
  reader.seek = [](int64_t, int whence) -> Result<int64_t> {
    return whence == SEEK_END ? 1000 : 7;
  };
  const auto lost = Source::FromReader(reader);
  ASSERT_TRUE(lost) << lost.error();
  const auto video = Open(*lost);
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kInvalidArgument);
  EXPECT_NE(video.error().message().find("its seek to 0 went to 7"),
            std::string::npos)
      << video.error();
}

TEST_F(Sources, PathsThatCannotBeOpenedSayWhy) {
  const auto open = [&](const std::string& path) {
    return host().OpenVideo(path).error();
  };
  EXPECT_EQ(open("/no/such/file.mp4").code(), Code::kNotFound);
  EXPECT_EQ(open(TemporaryDirectory()).code(), Code::kInvalidArgument);
  const std::string empty = TemporaryDirectory() + "/empty.mp4";
  std::ofstream(empty).flush();
  EXPECT_EQ(open(empty).code(), Code::kBadInput);
  for (const std::string& path :
       {std::string("/no/such/file.mp4"), TemporaryDirectory(), empty}) {
    EXPECT_NE(open(path).message().find(path), std::string::npos) << path;
  }
}

TEST_F(Sources, WrongReadersAreWrongArguments) {
  for (const size_t claimed : {size_t{0}, size_t{1} << 30}) {
    SourceReader reader;
    reader.read = [&](uint64_t, std::span<std::byte>) -> Result<size_t> {
      return claimed;
    };
    reader.bytes = 1000;
    const auto source = Source::FromReader(reader);
    ASSERT_TRUE(source);
    const auto video = host().OpenVideo(*source);
    ASSERT_FALSE(video);
    EXPECT_EQ(video.error().code(), Code::kInvalidArgument) << video.error();
  }
  EXPECT_EQ(Source::FromReader(SourceReader{}).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Source::FromReader(SeekingReader{}).error().code(),
            Code::kInvalidArgument);
}

TEST_F(Sources, WhatIsNoFileIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const ipc::UniqueFd reader(ends[0]), writer(ends[1]);
  EXPECT_EQ(Source::FromDescriptor(reader.get()).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Source::FromDescriptor(-1).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Source::FromMemory({}).error().code(), Code::kBadInput);
  const ipc::UniqueFd empty(::memfd_create("empty", MFD_CLOEXEC));
  EXPECT_EQ(Source::FromDescriptor(empty.get()).error().code(),
            Code::kBadInput);
  const std::string text = "no media";
  const auto source = Source::FromMemory(std::as_bytes(std::span(text)));
  ASSERT_TRUE(source);
  const auto video = host().OpenVideo(*source);
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kBadInput) << video.error();
  EXPECT_NE(video.error().message().find("the memory"), std::string::npos);
}

TEST_F(Sources, AllOfThemAreProbed) {
  const auto from_path = host().Probe(path());
  ASSERT_TRUE(from_path) << from_path.error();
  const auto reader = Source::FromReader(server().reader());
  const auto from_reader =
      server().Inside([&] { return host().Probe(*reader, {.scan = true}); });
  ASSERT_TRUE(from_reader) << from_reader.error();
  EXPECT_EQ(from_reader->streams.at(0).frame_count_from_content, 120u);
  EXPECT_EQ(from_path->streams.at(0).codec, "h264");
  EXPECT_EQ(from_path->streams.size(), from_reader->streams.size());
}

}  // namespace
}  // namespace bulkhead::tests
