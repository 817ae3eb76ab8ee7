// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/decoder_opening.h"

#include <string>
#include <vector>

#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/session/allowed_lists.h"

namespace bulkhead::worker::session {

DecoderOpening::DecoderOpening(ipc::schema::Open::Reader open)
    : device_(open.getDevice()),
      threads_(open.getThreads()),
      incarnation_(open.getIncarnation()),
      max_frame_pixels_(open.getMaxFramePixels()),
      ignore_errors_(open.getIgnoreErrors()),
      patience_(open.getPatienceMs()) {
  for (const auto option : open.getOptions()) {
    options_.emplace_back(option.getKey().cStr(), option.getValue().cStr());
  }
  examiner_ = decode::Examiner::TakeFrom(options_);
}

int32_t StreamToOpen(ipc::schema::Open::Reader open) {
  const bool named = open.getStreamIndex() >= 0;
  return !named && open.getBestStream() ? demux::kBestStream
                                        : open.getStreamIndex();
}

demux::DemuxerLimits DemuxerLimitsOf(ipc::schema::Open::Reader open) {
  return {open.getMaxStreams(), open.getMaxPacketBytes(),
          AllowedMediaOf(open.getAllowed())};
}

void DecoderOpening::ChooseThreads(demux::Demuxer& demuxer) {
  if (threads_ == 1) return;
  const std::string& codec = demuxer.facts().codec;
  // MPEG-4: a frame thread may read rows of another thread's interlaced picture
  // before they are decoded. Each thread also works around only those encoder
  // bugs that its own packets reveal. Dirac and VC-2: with slice threads,
  // pictures of more than 8 bits differ from the pictures of a single thread.
  bool depends = codec == "mpeg4" || codec == "dirac";
  if (codec == "hevc") {
    demux::AccessPoints points = demuxer.MakeAccessPoints();
    if (const bulkhead_packet* const first = demuxer.PeekFirst()) {
      const auto inspector = demuxer.MakeInspector();
      inspector->Inspect(*first);
      points.Read(*first, inspector->role());
    }
    depends = points.depends_on_threads();
  }
  if (depends) threads_ = 1;
}

ipc::Expected<std::unique_ptr<decode::Decoder>> DecoderOpening::Open(
    const bulkhead_backend& backend, const bulkhead_runtime& runtime,
    const bulkhead_codec_parameters& codec) const {
  if (!examiner_) return tl::unexpected(examiner_.error());
  std::vector<bulkhead_option> options;
  for (const auto& [key, value] : options_) {
    options.push_back({key.c_str(), value.c_str()});
  }
  bulkhead_open_parameters parameters{};
  parameters.size = sizeof(parameters);
  parameters.device = device_;
  parameters.codec = &codec;
  parameters.threads = threads_;
  parameters.incarnation = incarnation_;
  parameters.options = options.data();
  parameters.option_count = options.size();
  parameters.max_frame_pixels = max_frame_pixels_;
  parameters.ignore_errors = ignore_errors_;
  return decode::Decoder::Open(backend, parameters, runtime, patience_,
                               examiner_->get());
}

}  // namespace bulkhead::worker::session
