// SPDX-License-Identifier: Apache-2.0
#include "core/session/video_session.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <type_traits>

#include "core/exit_report.h"
#include "core/from_ipc.h"
#include "core/session/poisoned_input.h"
#include "core/status_macros.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::session {
namespace {

// Frames of the record that a replay compares before it goes on. More would
// cost conversions and could not tell more: each frame depends on those before.
constexpr size_t kComparedFrames = 3;
constexpr uint64_t kMaxWindow = 64;

std::string BaseName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

Crash::Input Identify(const std::string& path, const struct stat& file) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return {
      .path = error ? path : absolute.string(),
      .bytes = file.st_size,
      .modified_ns = file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec,
      .device = file.st_dev,
      .inode = file.st_ino};
}

Crash::Request::Kind RequestOf(SessionEvent asked) {
  switch (asked) {
    case SessionEvent::kIndexAsked:
      return Crash::Request::Kind::kScan;
    case SessionEvent::kFrameAsked:
      return Crash::Request::Kind::kNext;
    case SessionEvent::kPlaceAsked:
      return Crash::Request::Kind::kFrameAt;
    default:
      return Crash::Request::Kind::kOpen;
  }
}

}  // namespace

Result<std::unique_ptr<VideoSession>> VideoSession::Open(
    std::shared_ptr<SupervisorLink> supervisor, const std::string& path,
    VideoOptions options, const Limits& limits) {
  if (options.stream_index.value_or(0) < 0) {
    return Status(Code::kInvalidArgument,
                  path + " has no stream " +
                      std::to_string(*options.stream_index) +
                      "; leave the index out for the first video stream");
  }
  // Without O_NONBLOCK a FIFO would block here before it could be refused.
  ipc::UniqueFd media(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!media) {
    const int error = errno;
    return Status(
        error == ENOENT ? Code::kNotFound : Code::kInvalidArgument,
        "cannot open " + path + ": " + std::generic_category().message(error));
  }
  struct stat file;
  if (::fstat(media.get(), &file) != 0 || !S_ISREG(file.st_mode)) {
    return Status(Code::kInvalidArgument,
                  path + (S_ISDIR(file.st_mode)
                              ? " is a directory; name a media file"
                              : " is not a regular file; name a media file"));
  }
  if (file.st_size == 0) {
    return Status(Code::kBadInput, path + " is empty");
  }
  std::unique_ptr<VideoSession> session(
      new VideoSession(std::move(supervisor), path, std::move(media), file,
                       std::move(options), limits));
  const Status opened = session->WithRecovery(
      SessionEvent::kOpened, []() -> Status { return Status(); });
  if (!opened.ok()) return opened;
  return session;
}

VideoSession::VideoSession(std::shared_ptr<SupervisorLink> supervisor,
                           std::string path, ipc::UniqueFd media,
                           const struct stat& file, VideoOptions options,
                           const Limits& limits)
    : supervisor_(std::move(supervisor)),
      counter_(supervisor_->CountSession()),
      path_(std::move(path)),
      media_(std::move(media)),
      bytes_(file.st_size),
      input_(InputKey(file, options)),
      file_(Identify(path_, file)),
      options_(std::move(options)),
      limits_(limits) {}

template <typename Step>
auto VideoSession::WithRecovery(SessionEvent asked, const Step& step)
    -> decltype(step()) {
  asked_ = asked;
  for (;;) {
    Status failure = EnsureWorker();
    if (failure.ok()) {
      Raise(asked);
      failure = CheckPoisoned();
    }
    if (failure.ok()) {
      auto result = step();
      if constexpr (std::is_same_v<decltype(result), Status>) {
        failure = result;
        if (result.ok()) return Recovered(), result;
      } else {
        if (result) return Recovered(), std::move(result);
        failure = std::move(result).error();
      }
    }
    const bool died =
        link_ ? link_->dead() : failure.code() == Code::kBackendLost;
    if (!died) {
      mode_ = Mode::kIdle;
      // Without a death here, a report is that of an earlier one.
      Raise(failure.exit_report() ? SessionEvent::kPoisoned
                                  : SessionEvent::kRefused);
      EndEpisode(CodeName(failure.code()));
      return failure.WithContext(path_);
    }
    if (Status given_up = AccountDeath(failure); !given_up.ok()) {
      EndEpisode(CodeName(given_up.code()));
      return given_up;
    }
  }
}

void VideoSession::Recovered() {
  if (!episode_) return;
  const auto took = std::chrono::steady_clock::now() - episode_->began;
  Recovery recovery{
      .path = path_,
      .device = *device_,
      .cause = std::move(episode_->last),
      .attempts = episode_->deaths,
      .took = std::chrono::duration_cast<std::chrono::microseconds>(took)};
  EndEpisode("recovered");
  if (options_.recovery_observer) options_.recovery_observer(recovery);
}

void VideoSession::EndEpisode(const std::string& outcome) {
  if (episode_ && !episode_->crashes.empty()) {
    supervisor_->TellOutcome(episode_->crashes, outcome);
  }
  episode_.reset();
}

SeenEnd VideoSession::DescribeStep() const {
  SeenEnd seen{.position = position(),
               .position_text = PositionText(),
               .attempt = blamed_deaths_ + innocent_deaths_ + 1,
               .input = file_};
  SetOptions(options_, seen.request);
  seen.request.kind = RequestOf(asked_);
  seen.request.frame = wanted_;
  const Deadlines& deadlines = supervisor_->deadlines();
  switch (seen.position.step) {
    case InputPosition::Step::kOpening:
      seen.request.deadline_ms = deadlines.open.count();
      break;
    case InputPosition::Step::kScanning:
      seen.request.deadline_ms = deadlines.scan.count();
      break;
    case InputPosition::Step::kFrame:
      seen.request.deadline_ms = deadlines.frame.count();
      break;
  }
  return seen;
}

Status VideoSession::EnsureWorker() {
  if (link_ && !link_->dead()) return Status();
  link_.reset();
  mode_ = Mode::kIdle;
  return StartWorker();
}

Status VideoSession::StartWorker() {
  const Source media = source();
  ASSIGN_OR_RETURN(
      link_, WorkerLink::Start(supervisor_, {.device = options_.device,
                                             .alone = recovery_.restarts > 0,
                                             .input = input_,
                                             .path = path_,
                                             .counter = counter_.place()}));
  const Status opened = OpenStream(media);
  if (opened.ok()) Raise(SessionEvent::kOpened);
  // A living worker without a stream is of no use; a dead one is still to be
  // asked how it ended.
  if (!opened.ok() && !link_->dead()) link_.reset();
  return opened;
}

Status VideoSession::OpenStream(const Source& media) {
  RETURN_IF_ERROR(link_->Attach(media));
  recovery_.worker_start = link_->start_time();
  ASSIGN_OR_RETURN(VideoMetadata opened,
                   link_->Open(options_, ++incarnation_, limits_, media,
                               device_ ? &metadata_ : nullptr));
  if (!device_) {
    metadata_ = std::move(opened);
    device_ = std::make_shared<const std::string>(metadata_.device);
  } else if (opened.width != metadata_.width ||
             opened.height != metadata_.height ||
             opened.codec != metadata_.codec ||
             opened.stream_index != metadata_.stream_index) {
    return Status(Code::kBadInput,
                  "the new worker sees another stream than the one that died; "
                  "was the file changed?");
  }
  if (!pool_) {
    ASSIGN_OR_RETURN(const ipc::FrameGeometry geometry,
                     FromIpc(ipc::RgbGeometry(metadata_.width, metadata_.height,
                                              limits_.frame_pixels)));
    ASSIGN_OR_RETURN(pool_, FramePool::Create(geometry, limits_.frame_slots,
                                              limits_.session_bytes));
  }
  return link_->AttachPool(pool_);
}

Status VideoSession::CheckPoisoned() const {
  const auto& poisoned = link_->started().poisoned;
  const auto here = std::find_if(
      poisoned.begin(), poisoned.end(),
      [this](const auto& known) { return known.position == position(); });
  return here == poisoned.end() ? Status()
                                : RefusalOf(*here, link_->started().device);
}

Status VideoSession::AccountDeath(const Status& death) {
  if (!episode_) episode_ = Episode{.began = std::chrono::steady_clock::now()};
  WorkerExit exit;
  if (link_) {
    exit = link_->TakeExit(DescribeStep());
    if (pool_ && link_->gone()) {
      pool_->ledger().RevokeGrants();
    } else {
      // It may still write: nobody else gets this memory.
      pool_.reset();
    }
  }
  exit.report.position = PositionText();
  ++episode_->deaths;
  episode_->last = exit.report;
  if (exit.report.crash) episode_->crashes.push_back(exit.report.crash);
  ++recovery_.restarts;
  counter_.AddRestart();
  recovery_.last_cause = link_ ? DescribeExit(exit.report) : death.message();
  const bool met_media = link_ && link_->met_media();
  link_.reset();
  mode_ = Mode::kIdle;
  exit.blamed ? ++blamed_deaths_ : ++innocent_deaths_;

  const Status given_up =
      GiveUp(death, exit.report, exit.deaths_here, met_media);
  if (death.code() == Code::kBackendMisbehaved) {
    Raise(SessionEvent::kProtocolViolation);
  } else if (!given_up.ok()) {
    Raise(SessionEvent::kGivenUp);
  } else if (death.code() == Code::kDeadlineExceeded) {
    Raise(SessionEvent::kDeadline);
  } else {
    Raise(SessionEvent::kWorkerDied);
  }
  return given_up;
}

Status VideoSession::GiveUp(const Status& death, ExitReport report,
                            uint32_t deaths_here, bool met_media) const {
  const std::string what =
      death.message() + " at " + report.position + ": " + recovery_.last_cause;
  const std::string see = SeeCrash(report.crash);
  if (death.code() == Code::kBackendMisbehaved) {
    return Status(death.code(), what + see, std::move(report));
  }
  const uint32_t attempts = std::max(blamed_deaths_, deaths_here);
  if (attempts >= limits_.attempts_per_position) {
    Code code = Code::kPoisonedInput;
    const char* advice = "skip this file or try another backend";
    if (report.kind == ExitReport::Kind::kDeadline) {
      code = Code::kDeadlineExceeded;
      advice = "raise the deadline or skip the file";
    } else if (!met_media) {
      code = Code::kBackendLost;
      advice = "try another backend";
    }
    return Status(code,
                  what + "; given up after " + std::to_string(attempts) +
                      " attempts, " + advice + see,
                  std::move(report));
  }
  if (innocent_deaths_ > limits_.restarts_per_position) {
    return Status(Code::kBackendLost,
                  what + "; given up after " +
                      std::to_string(innocent_deaths_) + " restarts, retry" +
                      see,
                  std::move(report));
  }
  return Status();
}

void VideoSession::Acquit() {
  if (blamed_deaths_ == 0) return;
  supervisor_->FrameDelivered(link_->started(), position());
}

void VideoSession::Progressed() {
  counter_.AddFrame();
  Acquit();
  Raise(SessionEvent::kFrame);
  blamed_deaths_ = 0;
  innocent_deaths_ = 0;
}

Result<std::optional<Frame>> VideoSession::Next() {
  if (ended_) return std::optional<Frame>();
  wanted_ = delivered_.size();
  const auto next = [this]() -> Result<std::optional<Frame>> {
    if (mode_ != Mode::kSequential) RETURN_IF_ERROR(ResumeSequential());
    ASSIGN_OR_RETURN(PlayEvent event, link_->Await());
    auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) {
      ended_ = true;
      Raise(SessionEvent::kEndOfStream);
      return std::optional<Frame>();
    }
    const int64_t pts = published->pts;
    if (pts == ipc::kNoTimestamp ||
        (!delivered_.empty() && pts <= delivered_.back().pts)) {
      delivered_ascend_ = false;
    }
    delivered_.push_back({pts, published->fingerprint});
    Progressed();
    return std::make_optional(
        MakeFrame(std::move(*published), delivered_.size() - 1));
  };
  return WithRecovery(SessionEvent::kFrameAsked, next);
}

void VideoSession::Rewind() {
  delivered_.clear();
  delivered_ascend_ = true;
  ended_ = false;
  mode_ = Mode::kIdle;
  Raise(SessionEvent::kRewound);
}

Status VideoSession::ResumeSequential() {
  const size_t count = delivered_.size();
  if (count > 0 && delivered_ascend_) {
    const size_t first = count - std::min(count, kComparedFrames);
    RETURN_IF_ERROR(link_->Play({.start = PlayRequest::Start::kKeyframe,
                                 .keyframe_before = delivered_.back().pts,
                                 .skip_before = delivered_[first].pts}));
    const auto matched = DropDelivered(first);
    if (matched && *matched) {
      mode_ = Mode::kSequential;
      return Status();
    }
    if (!matched && link_->dead()) return matched.error();
  }
  RETURN_IF_ERROR(link_->Play({.start = PlayRequest::Start::kBeginning}));
  if (count > 0) {
    ASSIGN_OR_RETURN(const bool matched, DropDelivered(0));
    if (!matched) {
      return Status(Code::kBadInput,
                    "decoding it again gives other pictures than before, so "
                    "the stream cannot go on where it stopped; start over");
    }
  }
  mode_ = Mode::kSequential;
  return Status();
}

Result<bool> VideoSession::DropDelivered(size_t first) {
  for (size_t expected = first; expected < delivered_.size();) {
    ASSIGN_OR_RETURN(PlayEvent event, link_->Await());
    const auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) return false;
    // After a seek the first frame may be any of those that are compared.
    while (expected == first && first > 0 && first + 1 < delivered_.size() &&
           delivered_[first].pts < published->pts) {
      expected = ++first;
    }
    if (delivered_[expected].pts != published->pts ||
        delivered_[expected].fingerprint != published->fingerprint) {
      return false;
    }
    ++expected;
  }
  return true;
}

Status VideoSession::EnsureIndex() {
  if (index_) return Status();
  FrameIndex index;
  const auto scan = [&]() -> Status {
    index = FrameIndex();
    mode_ = Mode::kIdle;
    const Status status =
        link_->Scan([&](std::span<const ipc::IndexEntry> entries_untrusted) {
          return index.Add(entries_untrusted);
        });
    // The rest of a scan that was given up is still on its way.
    if (!status.ok() && !link_->dead()) link_.reset();
    return status;
  };
  RETURN_IF_ERROR(WithRecovery(SessionEvent::kIndexAsked, scan));
  Acquit();
  Raise(SessionEvent::kIndexed);
  index.Finish();
  index_ = std::move(index);
  return Status();
}

Result<uint64_t> VideoSession::FrameCount() {
  RETURN_IF_ERROR(EnsureIndex());
  return uint64_t{index_->size()};
}

Result<Frame> VideoSession::FrameAt(int64_t index) {
  RETURN_IF_ERROR(EnsureIndex());
  const auto count = static_cast<int64_t>(index_->size());
  const int64_t from_start = index < 0 ? index + count : index;
  if (from_start < 0 || from_start >= count) {
    return Status(Code::kOutOfRange, path_ + " has " + std::to_string(count) +
                                         " frames; there is no frame " +
                                         std::to_string(index));
  }
  return Fetch(static_cast<uint64_t>(from_start));
}

Result<Frame> VideoSession::Fetch(uint64_t index) {
  wanted_ = index;
  return WithRecovery(SessionEvent::kPlaceAsked, [&]() -> Result<Frame> {
    const bool count = count_frames_ || !index_->timestamped();
    return count ? FetchCounted(index) : FetchIndexed(index);
  });
}

Result<Frame> VideoSession::FetchIndexed(uint64_t index) {
  const int64_t target = (*index_)[index].pts;
  const bool onward = mode_ == Mode::kIndexed && position_ < index &&
                      index_->KeyframeOf(index) <= position_ + 1;
  if (!onward) {
    window_ = 1;
    RETURN_IF_ERROR(link_->Play({.start = PlayRequest::Start::kKeyframe,
                                 .keyframe_before = target,
                                 .skip_before = target,
                                 .max_frames = window_}));
  }
  // Until the target is found, what was decoded ahead is of no known place.
  mode_ = Mode::kIdle;
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, link_->Await());
    if (std::holds_alternative<Paused>(event)) {
      window_ = std::min(2 * window_, kMaxWindow);
      RETURN_IF_ERROR(link_->Play({.start = PlayRequest::Start::kOnward,
                                   .skip_before = target,
                                   .max_frames = window_}));
      continue;
    }
    auto* published = std::get_if<PublishedFrame>(&event);
    if (published && published->pts < target) continue;
    if (!published || published->pts > target) {
      if (index_matches_) return UndecodableError(index);
      // No timestamp of this file has held yet: they mean nothing.
      count_frames_ = true;
      return FetchCounted(index);
    }
    index_matches_ = true;
    mode_ = Mode::kIndexed;
    position_ = index;
    Progressed();
    return MakeFrame(std::move(*published), index);
  }
}

Result<Frame> VideoSession::FetchCounted(uint64_t index) {
  if (mode_ != Mode::kCounted || index < position_) {
    RETURN_IF_ERROR(link_->Play({.start = PlayRequest::Start::kBeginning}));
    mode_ = Mode::kCounted;
    position_ = 0;
  }
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, link_->Await());
    auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) return UndecodableError(index);
    if (position_++ == index) {
      Progressed();
      return MakeFrame(std::move(*published), index);
    }
  }
}

Status VideoSession::UndecodableError(uint64_t index) const {
  return Status(Code::kBadInput, "frame " + std::to_string(index) +
                                     " cannot be decoded: its data is damaged");
}

Result<FrameBatch> VideoSession::FramesAt(std::span<const int64_t> indices) {
  RETURN_IF_ERROR(EnsureIndex());
  const auto count = static_cast<int64_t>(index_->size());
  std::vector<uint64_t> from_start;
  from_start.reserve(indices.size());
  for (const int64_t index : indices) {
    const int64_t position = index < 0 ? index + count : index;
    if (position < 0 || position >= count) {
      return Status(Code::kOutOfRange, path_ + " has " + std::to_string(count) +
                                           " frames; there is no frame " +
                                           std::to_string(index));
    }
    from_start.push_back(static_cast<uint64_t>(position));
  }
  return FetchBatch(from_start);
}

Result<FrameBatch> VideoSession::FramesInRange(int64_t start,
                                               std::optional<int64_t> stop,
                                               int64_t step) {
  if (step < 1) {
    return Status(Code::kInvalidArgument, "step is " + std::to_string(step) +
                                              "; it must be at least 1");
  }
  RETURN_IF_ERROR(EnsureIndex());
  const auto count = static_cast<int64_t>(index_->size());
  const auto clip = [count](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + count : bound, 0, count);
  };
  const int64_t end = stop ? clip(*stop) : count;
  std::vector<uint64_t> indices;
  for (int64_t i = clip(start); i < end; i += std::min(step, count)) {
    indices.push_back(static_cast<uint64_t>(i));
  }
  return FetchBatch(indices);
}

Result<FrameBatch> VideoSession::FetchBatch(std::span<const uint64_t> indices) {
  FrameBatch batch;
  batch.width = metadata_.width;
  batch.height = metadata_.height;
  const size_t row_bytes = size_t{3} * batch.width;
  const size_t picture_bytes = row_bytes * batch.height;
  if (indices.size() > limits_.session_bytes / picture_bytes) {
    return Status(Code::kResourceExhausted,
                  std::to_string(indices.size()) + " frames of " + path_ +
                      " do not fit Limits::session_bytes; ask for fewer at "
                      "once");
  }
  batch.pixels.resize(picture_bytes * indices.size());
  batch.pts_seconds.resize(indices.size());
  batch.duration_seconds.resize(indices.size());
  // Ascending, so that the stream is decoded once.
  std::vector<size_t> order(indices.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return indices[a] < indices[b]; });
  for (size_t n = 0; n < order.size(); ++n) {
    const size_t at = order[n];
    std::byte* const out = batch.pixels.data() + at * picture_bytes;
    if (n > 0 && indices[order[n - 1]] == indices[at]) {
      const size_t twin = order[n - 1];
      std::memcpy(out, batch.pixels.data() + twin * picture_bytes,
                  picture_bytes);
      batch.pts_seconds[at] = batch.pts_seconds[twin];
      batch.duration_seconds[at] = batch.duration_seconds[twin];
      continue;
    }
    ASSIGN_OR_RETURN(const Frame frame, Fetch(indices[at]));
    for (uint32_t y = 0; y < batch.height; ++y) {
      std::memcpy(out + y * row_bytes, frame.row(y).data(), row_bytes);
    }
    batch.pts_seconds[at] = frame.pts_seconds();
    batch.duration_seconds[at] = frame.duration_seconds();
  }
  return batch;
}

Frame VideoSession::MakeFrame(PublishedFrame&& published,
                              uint64_t index) const {
  FrameInfo info{.width = published.width,
                 .height = published.height,
                 .stride = published.stride,
                 .index = index,
                 .duration = published.duration,
                 .keyframe = published.keyframe};
  const double unit = metadata_.time_base.value();
  if (published.pts != ipc::kNoTimestamp) {
    info.pts = published.pts;
    info.pts_seconds = static_cast<double>(published.pts) * unit;
  }
  info.duration_seconds = static_cast<double>(published.duration) * unit;
  return Frame(std::move(published.lease), info, device_);
}

Source VideoSession::source() const {
  return {.media_fd = media_.get(),
          .name = path_,
          .name_hint = BaseName(path_),
          .bytes = bytes_};
}

InputPosition VideoSession::position() const {
  using Step = InputPosition::Step;
  switch (state_) {
    case SessionState::kOpening:
    case SessionState::kReplaying:
    case SessionState::kFailed:
      return {Step::kOpening};
    case SessionState::kScanning:
      return {Step::kScanning};
    case SessionState::kSeeking:
    case SessionState::kStreaming:
    case SessionState::kEnded:
      break;
  }
  return {Step::kFrame, wanted_};
}

std::string VideoSession::PositionText() const {
  return path_ + ", " + Describe(position());
}

}  // namespace bulkhead::session
