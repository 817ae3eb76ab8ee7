// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/allowed_media.h"

#include <algorithm>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
}

namespace bulkhead::worker::demux {
namespace {

using Names = std::vector<std::string>;

bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Joined(const Names& names, const char* between) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : between) + name;
  }
  return text;
}

// Returns the names of all decoders of the codecs, for libavcodec's whitelist,
// which names decoders. A codec may have several.
Names DecodersOf(const Names& codecs) {
  Names decoders;
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (av_codec_is_decoder(codec) != 0 &&
        Has(codecs, avcodec_get_name(codec->id))) {
      decoders.emplace_back(codec->name);
    }
  }
  return decoders;
}

bool CanBeDecoded(const AVStream& stream) {
  switch (stream.codecpar->codec_type) {
    case AVMEDIA_TYPE_VIDEO:
    case AVMEDIA_TYPE_AUDIO:
    case AVMEDIA_TYPE_SUBTITLE:
      return stream.codecpar->codec_id != AV_CODEC_ID_NONE;
    default:
      return false;
  }
}

ipc::Error Refusal(const std::string& what, const char* list,
                   const Names& allowed) {
  return {ipc::Code::kUnsupported,
          what + ", which is not allowed; convert the file, or add it to the " +
              list + " that are allowed (--allow-" + list +
              "): " + (allowed.empty() ? "none" : Joined(allowed, ", "))};
}

}  // namespace

void AllowedMedia::Restrict(AVFormatContext& format) const {
  if (containers) {
    format.format_whitelist = av_strdup(Joined(*containers, ",").c_str());
  }
  if (codecs) {
    format.codec_whitelist =
        av_strdup(Joined(DecodersOf(*codecs), ",").c_str());
  }
}

bool AllowedMedia::Allows(const AVStream& stream) const {
  return !codecs || !CanBeDecoded(stream) ||
         Has(*codecs, avcodec_get_name(stream.codecpar->codec_id));
}

ipc::Expected<void> AllowedMedia::Check(const AVInputFormat& container) const {
  if (!containers) return {};
  // One allowed name of the demuxer's names ("matroska,webm") is enough.
  const std::string_view names = container.name;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    if (Has(*containers, names.substr(begin, end - begin))) return {};
    begin = end + 1;
  }
  return tl::unexpected(
      Refusal(std::string("it is of the container ") + container.name,
              "containers", *containers));
}

ipc::Expected<void> AllowedMedia::Check(const AVStream& stream) const {
  if (Allows(stream)) return {};
  return tl::unexpected(Refusal("stream " + std::to_string(stream.index) +
                                    " is of the codec " +
                                    avcodec_get_name(stream.codecpar->codec_id),
                                "codecs", *codecs));
}

}  // namespace bulkhead::worker::demux
