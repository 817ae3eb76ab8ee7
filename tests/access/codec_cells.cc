// SPDX-License-Identifier: Apache-2.0
#include "tests/access/codec_cells.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr CodecRow kRows[] = {
    {"h264", "-c:v libx264 -g 12 -bf 2 -x264-params open-gop=1", "h264"},
    {"h264_inner_i",
     "-c:v libx264 -g 30 -keyint_min 30 -force_key_frames "
     "expr:eq(mod(n,7),3) -forced-idr 0",
     "h264"},
    {"h264_refresh", "-c:v libx264 -g 12 -intra-refresh 1", "h264"},
    {"hevc",
     "-c:v libx265 -preset ultrafast -x265-params "
     "log-level=none:pools=none:keyint=12:bframes=2:open-gop=1",
     "hevc"},
    {"hevc_slices",
     "-c:v libx265 -preset veryfast -x265-params "
     "log-level=none:pools=none:slices=3:keyint=12",
     "hevc", "176x144"},
    {"vp8", "-c:v libvpx -deadline realtime -cpu-used 8 -g 12", nullptr},
    {"vp9", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 12", nullptr},
    {"av1", "-c:v libaom-av1 -cpu-used 8 -g 12 -lag-in-frames 9", "obu",
     "96x64", 24},
    {"mpeg1", "-c:v mpeg1video -g 12 -bf 2", "m1v"},
    {"mpeg2", "-c:v mpeg2video -g 12 -bf 2", "m2v"},
    {"mpeg2_fields", "-c:v mpeg2video -g 12 -bf 2 -flags +ildct+ilme", "m2v"},
    {"mpeg4", "-c:v mpeg4 -g 12 -bf 2", "m4v"},
    {"mpeg4_fields", "-c:v mpeg4 -g 12 -bf 2 -flags +ildct+ilme", "m4v"},
    {"mpeg4_without_b", "-c:v mpeg4 -g 12", "m4v"},
    {"xvid", "-c:v libxvid -g 12 -bf 2", "m4v"},
    {"msmpeg4v2", "-c:v msmpeg4v2 -g 12", nullptr},
    {"msmpeg4v3", "-c:v msmpeg4 -g 12", nullptr},
    {"wmv1", "-c:v wmv1 -g 12", nullptr},
    {"wmv2", "-c:v wmv2 -g 12", nullptr},
    {"h261", "-c:v h261 -g 12", "h261", "176x144"},
    {"h263", "-c:v h263 -g 12", "h263", "176x144"},
    {"h263p", "-c:v h263p -g 12 -umv 1 -aiv 1", "h263"},
    {"flv1", "-c:v flv -g 12", nullptr},
    {"rv10", "-c:v rv10 -g 12", nullptr, "176x144"},
    {"rv20", "-c:v rv20 -g 12", nullptr, "176x144"},
    {"svq1", "-c:v svq1 -g 6", nullptr, "96x64", 20},
    {"theora", "-c:v libtheora -g 12", nullptr},
    {"vc2", "-c:v vc2 -strict -1", "drc"},
    {"vc2_10bit", "-c:v vc2 -strict -1 -pix_fmt yuv422p10", "drc"},
    {"ffv1", "-c:v ffv1 -level 3 -g 6", nullptr},
    {"snow", "-c:v snow -g 6 -strict -2", nullptr, "96x64", 20},
    {"mjpeg", "-c:v mjpeg -pix_fmt yuvj420p", "mjpeg"},
    {"mjpeg_optimal", "-c:v mjpeg -pix_fmt yuvj422p -huffman optimal", "mjpeg"},
    {"ljpeg", "-c:v ljpeg -pix_fmt yuvj420p", nullptr},
    {"jpegls", "-c:v jpegls", nullptr},
    {"jpeg2000", "-c:v jpeg2000", nullptr, "96x64", 12},
    {"png", "-c:v png", nullptr},
    {"qoi", "-c:v qoi", nullptr},
    {"bmp", "-c:v bmp", nullptr},
    {"gif", "-c:v gif", nullptr},
    {"apng", "-c:v apng", nullptr},
    {"huffyuv", "-c:v huffyuv", nullptr},
    {"ffvhuff", "-c:v ffvhuff -context 1", nullptr},
    {"utvideo", "-c:v utvideo", nullptr},
    {"magicyuv", "-c:v magicyuv", nullptr},
    {"asv1", "-c:v asv1", nullptr},
    {"asv2", "-c:v asv2", nullptr},
    {"cljr", "-c:v cljr -strict -2", nullptr},
    {"dv", "-c:v dvvideo", "dv", "720x576", 6},
    {"dnxhd", "-pix_fmt yuv422p -c:v dnxhd -profile:v dnxhr_sq", "dnxhd",
     "256x128", 12},
    {"prores", "-c:v prores_ks", nullptr},
    {"cfhd", "-c:v cfhd", nullptr, "256x128", 12},
    {"hap", "-c:v hap", nullptr},
    {"qtrle", "-c:v qtrle -g 12", nullptr},
    {"smc", "-c:v smc", nullptr},
    {"msvideo1", "-c:v msvideo1", nullptr},
    {"zmbv", "-c:v zmbv -g 12", nullptr},
    {"flashsv", "-c:v flashsv -g 12", nullptr},
    {"flashsv2", "-c:v flashsv2 -g 12 -strict -2", nullptr},
    {"cinepak", "-c:v cinepak -g 6", nullptr, "96x64", 14},
    {"amv", "-c:v amv -strict -1", nullptr, "96x64", 20},
    {"speedhq", "-c:v speedhq", nullptr},
    {"raw", "-c:v rawvideo", nullptr},
    {"raw_palette", "-c:v rawvideo -pix_fmt pal8", nullptr},
    {"raw_bgr", "-c:v rawvideo -pix_fmt bgr24", nullptr},
    {"v210", "-c:v v210", nullptr},
    {"r210", "-c:v r210", nullptr},
    {"y41p", "-c:v y41p", nullptr},
    {"zlib", "-c:v zlib", nullptr, "96x64", 12},
    {"dpx", "-c:v dpx", nullptr, "96x64", 12},
    {"exr", "-c:v exr", nullptr, "96x64", 12},
    {"fits", "-c:v fits", nullptr, "96x64", 12},
    {"pam", "-c:v pam", nullptr, "96x64", 12},
    {"ppm", "-c:v ppm", nullptr, "96x64", 12},
    {"pfm", "-c:v pfm", nullptr, "96x64", 12},
    {"phm", "-c:v phm", nullptr, "96x64", 12},
    {"sgi", "-c:v sgi", nullptr, "96x64", 12},
    {"targa", "-c:v targa", nullptr, "96x64", 12},
    {"tiff", "-c:v tiff", nullptr, "96x64", 12},
    {"xwd", "-c:v xwd", nullptr, "96x64", 12},
    {"avrp", "-c:v avrp", nullptr, "96x64", 12},
    {"ayuv", "-c:v ayuv", nullptr, "96x64", 12},
    {"openjpeg", "-c:v libopenjpeg", nullptr, "96x64", 12},
    {"prores_aw", "-c:v prores_aw", nullptr, "96x64", 12},
    {"rav1e", "-c:v librav1e -speed 10 -g 6", nullptr, "96x64", 12},
    {"v308", "-c:v v308", nullptr, "96x64", 12},
    {"v408", "-c:v v408", nullptr, "96x64", 12},
    {"v410", "-c:v v410", nullptr, "96x64", 12},
    {"yuv4", "-c:v yuv4", nullptr, "96x64", 12},
    {"r10k", "-c:v r10k", nullptr, "96x64", 12},
};

struct Container {
  const char* extension;
  // What the names of the codecs that it is for begin with; ffmpeg also muxes
  // others, which no demuxer takes for what they are. Empty: all.
  std::vector<const char*> codecs = {};
  // A normal run leaves it out, since it has the packets of another one.
  bool is_like_another = false;
};

const std::vector<Container>& Containers() {
  static const auto& containers = *new std::vector<Container>{
      {"mp4"},
      {"mov"},
      {"3gp", {}, true},
      {"mkv"},
      {"webm", {}, true},
      {"avi"},
      {"flv"},
      {"ts", {"h264", "hevc", "mpeg", "xvid", "vc2"}},
      {"mpg", {"h264", "hevc", "mpeg", "xvid"}},
      {"nut"},
      {"wmv"},
      {"wtv", {"mpeg", "h264"}, true},
      {"ogv", {"theora", "vp8", "vc2"}},
      {"mxf"},
      {"gxf", {"mpeg", "dv", "mjpeg"}, true},
      {"rm", {"rv"}},
      {"ivf", {"vp", "av1"}},
      {"swf", {"flv1", "mjpeg", "png"}},
      {"gif", {"gif"}},
      {"apng", {"apng"}},
      {"amv", {"amv"}},
      {"qoi", {"qoi"}},
  };
  return containers;
}

bool Takes(const Container& container, const std::string& codec) {
  return container.codecs.empty() ||
         std::any_of(container.codecs.begin(), container.codecs.end(),
                     [&](const char* name) { return codec.starts_with(name); });
}

bool HasFlags(const std::string& extension) {
  for (const char* flagged :
       {"mp4", "mov", "3gp", "mkv", "webm", "avi", "flv"}) {
    if (extension == flagged) return true;
  }
  return false;
}

// Replaces each `from` by `to`, which has as many characters.
bool Replace(std::string& file, const std::string& from, const char* to) {
  bool found = false;
  for (size_t at = 0; (at = file.find(from, at)) != std::string::npos; ++at) {
    file.replace(at, from.size(), to);
    found = true;
  }
  return found;
}

size_t BigEndian(const std::string& file, size_t at, size_t bytes) {
  size_t value = 0;
  for (size_t i = 0; i < bytes && at + i < file.size(); ++i) {
    value = value << 8 | static_cast<uint8_t>(file[at + i]);
  }
  return value;
}

bool FlagAllOfFlv(std::string& file) {
  constexpr char kVideo = 9;
  bool changed = false;
  for (size_t at = 13; at + 12 < file.size();) {
    if (file[at] == kVideo) {
      file[at + 11] = static_cast<char>((file[at + 11] & 0x0f) | 0x10);
      changed = true;
    }
    at += 11 + BigEndian(file, at + 1, 3) + 4;
  }
  return changed;
}

// Sets the flag in each SimpleBlock of each cluster of Matroska.
bool FlagAllOfMatroska(std::string& file) {
  constexpr size_t kSegment = 0x18538067;
  constexpr size_t kCluster = 0x1f43b675;
  constexpr size_t kSimpleBlock = 0xa3;
  bool changed = false;
  const auto width = [&file](size_t at) {
    size_t bytes = 1;
    for (uint8_t bit = 0x80; bit != 0 && (file[at] & bit) == 0; bit >>= 1) {
      ++bytes;
    }
    return bytes;
  };
  for (size_t at = 0; at + 12 < file.size();) {
    const size_t id_bytes = width(at);
    const size_t id = BigEndian(file, at, id_bytes);
    at += id_bytes;
    const size_t size_bytes = width(at);
    const size_t size =
        BigEndian(file, at, size_bytes) & ((size_t{1} << 7 * size_bytes) - 1);
    at += size_bytes;
    if (id == kSegment || id == kCluster) continue;
    if (id == kSimpleBlock) {
      file[at + 3] = static_cast<char>(file[at + 3] | 0x80);
      changed = true;
    }
    at += size;
  }
  return changed;
}

bool FlagAll(const std::string& extension, std::string& file) {
  if (extension == "avi") return Replace(file, "idx1", "JUNK");
  if (extension == "flv") return FlagAllOfFlv(file);
  if (extension == "mkv" || extension == "webm") return FlagAllOfMatroska(file);
  return Replace(file, "stss", "skip");
}

Status Run(const std::string& words, const std::string& path) {
  std::vector<std::string> arguments;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) arguments.push_back(word);
  arguments.push_back(path);
  const ProgramResult made = RunFfmpeg(arguments);
  if (!made.started) {
    return Status(Code::kNotFound, "there is no ffmpeg on this machine");
  }
  std::error_code error;
  if (made.exit_code == 0 && fs::file_size(path, error) > 0 && !error) {
    return Status();
  }
  fs::remove(path, error);
  return Status(Code::kUnsupported, made.Describe());
}

std::string PathOf(const CodecRow& codec, const Cell& cell) {
  return TemporaryDirectory() + "/cell_" + codec.name + "_" + cell.name();
}

// Returns the words by which a container that is no file of its own is muxed.
std::string MuxerOf(const std::string& extension) {
  if (extension == "qoi") return " -f image2pipe";
  if (extension == "drc") return " -f dirac";
  if (extension == "m4v") return " -f m4v";
  return "";
}

}  // namespace

std::span<const CodecRow> CodecRows() { return kRows; }

std::string Cell::name() const {
  constexpr const char* kKinds[] = {"", "cut_", "holes_", "flagged_"};
  return std::string(kKinds[static_cast<int>(kind)]) + "in." + extension;
}

std::vector<Cell> CellsOf(const CodecRow& codec, bool all) {
  std::vector<Cell> cells;
  for (const Container& container : Containers()) {
    if ((container.is_like_another && !all) || !Takes(container, codec.name)) {
      continue;
    }
    cells.push_back({container.extension, CellKind::kAsMuxed});
    cells.push_back({container.extension, CellKind::kCut});
    // In pictures that follow a gap, libavcodec refers to what it has, which
    // may be older than a recovery point of H.264.
    if (container.extension == std::string("mkv") &&
        codec.name != std::string("h264")) {
      cells.push_back({container.extension, CellKind::kHoles});
    }
    if (HasFlags(container.extension)) {
      cells.push_back({container.extension, CellKind::kAllFlagged});
    }
  }
  if (codec.raw != nullptr) cells.push_back({codec.raw, CellKind::kAsMuxed});
  return cells;
}

Result<std::string> MakeCell(const CodecRow& codec, const Cell& cell) {
  const std::string path = PathOf(codec, cell);
  if (fs::exists(path)) return path;
  const std::string muxer = MuxerOf(cell.extension);
  const Cell as_muxed{cell.extension, CellKind::kAsMuxed};
  Status made;
  switch (cell.kind) {
    case CellKind::kAsMuxed:
      made =
          Run(std::string("-f lavfi -i testsrc2=rate=25:size=") + codec.size +
                  ",format=yuv420p -frames:v " + std::to_string(codec.frames) +
                  " " + codec.encoder + " -threads 1" + muxer,
              path);
      break;
    case CellKind::kCut: {
      const auto whole = MakeCell(codec, as_muxed);
      if (!whole) return whole;
      made = Run("-i " + *whole + " -ss 0.2 -c copy -copyinkf" + muxer, path);
      break;
    }
    case CellKind::kHoles: {
      const auto whole = MakeCell(codec, as_muxed);
      if (!whole) return whole;
      made = Run("-i " + *whole +
                     " -c copy -bsf:v "
                     "noise=amount=0:drop=eq(mod(n\\,7)\\,4)*not(key)" +
                     muxer,
                 path);
      break;
    }
    case CellKind::kAllFlagged: {
      const auto whole = MakeCell(codec, as_muxed);
      if (!whole) return whole;
      std::ifstream in(*whole, std::ios::binary);
      std::string file(std::istreambuf_iterator<char>(in), {});
      if (!FlagAll(cell.extension, file)) {
        return Status(Code::kUnsupported, "each packet is a keyframe anyway");
      }
      std::ofstream(path, std::ios::binary) << file;
      break;
    }
  }
  if (!made.ok()) return made;
  return path;
}

}  // namespace bulkhead::tests
