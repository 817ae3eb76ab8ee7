// SPDX-License-Identifier: Apache-2.0
#include "core/crashes/crash_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/clean_text.h"
#include "core/crashes/option_names.h"

namespace bulkhead::crashes {
namespace {

using Json = nlohmann::ordered_json;
using End = ExitReport::Kind;
using Request = Crash::Request;

constexpr int kSchema = 1;
constexpr size_t kMaxWords = 4'096;
constexpr size_t kMaxLines = 128;

constexpr std::array<std::pair<End, const char*>, 7> kEnds = {{
    {End::kUnknown, "unknown"},
    {End::kExited, "exited"},
    {End::kSignaled, "signaled"},
    {End::kSandboxViolation, "sandbox-violation"},
    {End::kDeadline, "deadline"},
    {End::kProtocolViolation, "protocol-violation"},
    {End::kOutOfMemory, "out-of-memory"},
}};
constexpr std::array<std::pair<Request::Kind, const char*>, 5> kRequests = {{
    {Request::Kind::kStart, "start"},
    {Request::Kind::kOpen, "open"},
    {Request::Kind::kScan, "scan"},
    {Request::Kind::kNext, "next"},
    {Request::Kind::kFrameAt, "frame-at"},
}};

template <typename Names, typename T>
const char* NameIn(const Names& names, T value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return names[0].second;
}

template <typename Names>
auto ValueIn(const Names& names, const std::string& text) {
  for (const auto& [value, name] : names) {
    if (text == name) return value;
  }
  return names[0].first;
}

std::string Dump(const Json& json) {
  return json.dump(2, ' ', true, Json::error_handler_t::replace);
}

// Returns JSON from which a reader gets the same bytes.
Json Exact(const std::string& text) {
  // Dump() replaces bytes that are not UTF-8, so a text with such bytes is read
  // back differently.
  const Json read = Json::parse(Dump(Json(text)), nullptr, false);
  if (read.is_string() && read.get_ref<const std::string&>() == text) {
    return text;
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return Json{{"hex", hex}};
}

std::string FromHex(const std::string& hex_untrusted) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
  };
  std::string text;
  for (size_t i = 0; i + 1 < hex_untrusted.size(); i += 2) {
    text += static_cast<char>(16 * value(hex_untrusted[i]) +
                              value(hex_untrusted[i + 1]));
  }
  return text;
}

// Reads members of a JSON value that may be anything, even no object.
class Members {
 public:
  explicit Members(const Json& json_untrusted) : json_(json_untrusted) {}

  const Json& operator[](const char* name) const {
    static const Json kNothing;
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    return json_.is_object() && found != json_.end() ? *found : kNothing;
  }
  std::string Words(const char* name) const { return ToWords((*this)[name]); }
  std::string ExactText(const char* name) const {
    const Json& member = (*this)[name];
    if (member.is_string()) return member.get<std::string>();
    const Json& hex = Members(member)["hex"];
    return hex.is_string() ? FromHex(hex.get<std::string>()) : "";
  }
  template <typename T>
  T Number(const char* name, T otherwise = 0) const {
    const Json& member = (*this)[name];
    return member.is_number_integer() ? member.get<T>() : otherwise;
  }
  bool Flag(const char* name) const {
    const Json& member = (*this)[name];
    return member.is_boolean() && member.get<bool>();
  }
  std::vector<std::string> Lines(const char* name) const {
    std::vector<std::string> lines;
    const Json& member = (*this)[name];
    if (!member.is_array()) return lines;
    for (const Json& line : member) {
      if (lines.size() < kMaxLines) lines.push_back(ToWords(line));
    }
    return lines;
  }

 private:
  static std::string ToWords(const Json& member) {
    return member.is_string()
               ? CleanText(member.get_ref<const std::string&>(), kMaxWords)
               : "";
  }

  const Json& json_;
};

Json ToJson(const ExitReport& end) {
  const bool named = end.syscall_trusted;
  const bool claims =
      end.claimed_address != 0 || !end.claimed_backtrace.empty();
  // Only a process that died from a signal can have touched an address.
  const bool fault = end.kind == ExitReport::Kind::kSignaled;
  return Json{
      {"kind", NameIn(kEnds, end.kind)},
      {"value", end.value},
      {"position", end.position},
      {"syscall", named ? Json(end.syscall) : Json()},
      {"syscall_number", named ? Json(end.syscall_number) : Json()},
      {"architecture", named ? Json(end.architecture) : Json()},
      {"stage", end.stage},
      {"claimed",
       claims ? Json{{"address", fault ? Json(end.claimed_address) : Json()},
                     {"backtrace", end.claimed_backtrace}}
              : Json()},
  };
}

ExitReport ToEnd(const Members& in) {
  ExitReport end;
  end.kind = ValueIn(kEnds, in.Words("kind"));
  end.value = in.Number<int>("value");
  end.position = in.Words("position");
  // ToJson() writes the number of the call only if the kernel reported it.
  end.syscall_trusted = in["syscall_number"].is_number_integer();
  end.syscall_number = in.Number<int>("syscall_number");
  end.syscall = in.Words("syscall");
  end.architecture = in.Words("architecture");
  end.stage = in.Number<int>("stage");
  const Members claimed(in["claimed"]);
  end.claimed_address = claimed.Number<uint64_t>("address");
  end.claimed_backtrace = claimed.Lines("backtrace");
  return end;
}

Json OrNull(const std::optional<int>& number) {
  return number ? Json(*number) : Json();
}

Json TransformToJson(const Resize& resize) {
  return {{"kind", "resize"},
          {"height", resize.height},
          {"width", resize.width},
          {"filter", NameIn(kFilterNames, resize.filter)}};
}
Json TransformToJson(const CenterCrop& crop) {
  return {
      {"kind", "center-crop"}, {"height", crop.height}, {"width", crop.width}};
}
Json TransformToJson(const Crop& crop) {
  return {{"kind", "crop"},
          {"height", crop.height},
          {"width", crop.width},
          {"top", crop.top},
          {"left", crop.left}};
}
Json TransformToJson(const RandomCrop& crop) {
  return {{"kind", "random-crop"},
          {"height", crop.height},
          {"width", crop.width},
          {"seed", crop.seed}};
}

// Returns the transform; nullopt for an unknown kind.
std::optional<Transform> ToTransform(const Members& in) {
  const std::string kind = in.Words("kind");
  const auto height = in.Number<uint32_t>("height");
  const auto width = in.Number<uint32_t>("width");
  if (kind == "resize") {
    return Resize{.height = height,
                  .width = width,
                  .filter = ValueIn(kFilterNames, in.Words("filter"))};
  }
  if (kind == "center-crop") return CenterCrop{height, width};
  if (kind == "crop") {
    return Crop{.top = in.Number<uint32_t>("top"),
                .left = in.Number<uint32_t>("left"),
                .height = height,
                .width = width};
  }
  if (kind != "random-crop") return std::nullopt;
  return RandomCrop{
      .height = height, .width = width, .seed = in.Number<uint64_t>("seed")};
}

std::optional<int> PositiveOrNone(int number) {
  return number > 0 ? std::optional(number) : std::nullopt;
}

Json ToJson(const Request& request) {
  Json options = Json::array();
  for (const auto& [key, value] : request.backend_options) {
    options.push_back({{"key", Exact(key)}, {"value", Exact(value)}});
  }
  Json transforms = Json::array();
  for (const Transform& transform : request.transforms) {
    transforms.push_back(std::visit(
        [](const auto& asked) { return TransformToJson(asked); }, transform));
  }
  return Json{
      {"kind", NameOf(request.kind)},
      {"frame", request.frame},
      {"stream_index", OrNull(request.stream_index)},
      {"best_stream", request.stream_choice == StreamChoice::kBest},
      {"threads", request.threads},
      {"on_corrupt", NameOf(request.on_corrupt)},
      {"backend_options", options},
      {"complete", request.complete},
      {"deadline_ms", request.deadline_ms},
      {"audio", request.audio},
      {"sample_rate", OrNull(request.sample_rate)},
      {"num_channels", OrNull(request.num_channels)},
      {"output_dtype", NameIn(kOutputDtypeNames, request.output_dtype)},
      {"transforms", transforms},
  };
}

Request ToRequest(const Members& in) {
  Request request;
  request.kind = ValueIn(kRequests, in.Words("kind"));
  request.frame = in.Number<uint64_t>("frame");
  if (in["stream_index"].is_number_integer()) {
    request.stream_index = in.Number<int>("stream_index");
  }
  if (in.Flag("best_stream")) request.stream_choice = StreamChoice::kBest;
  request.threads = in.Number<uint32_t>("threads", 1);
  request.on_corrupt = ValueIn(kOnCorruptNames, in.Words("on_corrupt"));
  const Json& options = in["backend_options"];
  if (options.is_array()) {
    for (const Json& option : options) {
      const Members pair(option);
      request.backend_options.emplace_back(pair.ExactText("key"),
                                           pair.ExactText("value"));
    }
  }
  request.complete = in.Flag("complete");
  request.deadline_ms = in.Number<int64_t>("deadline_ms");
  request.audio = in.Flag("audio");
  request.sample_rate = PositiveOrNone(in.Number<int>("sample_rate"));
  request.num_channels = PositiveOrNone(in.Number<int>("num_channels"));
  request.output_dtype = ValueIn(kOutputDtypeNames, in.Words("output_dtype"));
  const Json& transforms = in["transforms"];
  if (transforms.is_array()) {
    for (const Json& transform : transforms) {
      const auto known = ToTransform(Members(transform));
      if (known) request.transforms.push_back(*known);
      request.complete &= known.has_value();
    }
  }
  return request;
}

}  // namespace

const char* NameOf(Request::Kind kind) { return NameIn(kRequests, kind); }

const char* NameOf(ExitReport::Kind kind) { return NameIn(kEnds, kind); }

const char* NameOf(OnCorrupt on_corrupt) {
  return NameIn(kOnCorruptNames, on_corrupt);
}

Json ToJson(const Crash& crash) {
  Json input;
  if (crash.input) {
    input = {{"path", Exact(crash.input->path)},
             {"bytes", crash.input->bytes},
             {"modified_ns", crash.input->modified_ns},
             {"device", crash.input->device},
             {"inode", crash.input->inode}};
  }
  return Json{
      {"schema", kSchema},
      {"number", crash.number},
      {"time", crash.time},
      {"application",
       {{"pid", crash.application.pid},
        {"program", crash.application.program}}},
      {"backend",
       {{"name", crash.backend.name},
        {"distribution", crash.backend.distribution},
        {"version", crash.backend.version},
        {"directory", Exact(crash.backend.directory)},
        {"file", Exact(crash.backend.file)},
        {"hash", crash.backend.hash},
        {"bytes", crash.backend.bytes},
        {"modified_ns", crash.backend.modified_ns}}},
      {"device", crash.device},
      {"tier", NameIn(kSandboxTierNames, crash.tier)},
      {"incarnation", crash.incarnation},
      {"process", crash.process},
      {"blamed", crash.blamed},
      {"end", ToJson(crash.end)},
      {"cause", crash.cause},
      {"claims_cause", crash.claims_cause},
      {"input", input},
      {"request", ToJson(crash.request)},
      {"last_message", crash.last_message},
      {"attempt", crash.attempt},
      {"had_media", crash.had_media},
      {"log", crash.log},
      {"media_log", crash.media_log},
      {"outcome", crash.outcome.empty() ? Json() : Json(crash.outcome)},
      {"unrecorded", crash.unrecorded},
  };
}

Json ToJsonWithoutMediaText(const Crash& crash) {
  Json json = ToJson(crash);
  json["media_log"] = nullptr;
  if (!crash.had_media) return json;
  json["end"]["claimed"] = nullptr;
  if (crash.claims_cause) {
    json["cause"] = crash.cause.substr(0, crash.cause.find(':'));
  }
  return json;
}

std::string ToText(Crash crash, size_t max_bytes) {
  std::string text = Dump(ToJson(crash));
  if (text.size() > max_bytes) {
    crash.request.backend_options.clear();
    crash.request.transforms.clear();
    crash.request.complete = false;
    text = Dump(ToJson(crash));
  }
  if (text.size() > max_bytes) {
    crash.log.clear();
    crash.media_log.clear();
    crash.end.claimed_backtrace.clear();
    text = Dump(ToJson(crash));
  }
  return text;
}

Result<Crash> ParseCrash(const std::string& text_untrusted) {
  const Json json = Json::parse(text_untrusted, nullptr, false);
  const Members in(json);
  if (in.Number<int64_t>("schema") != kSchema || !in["end"].is_object() ||
      !in["backend"].is_object() || !in["request"].is_object()) {
    return Status(Code::kBadInput, "is no record of a crash");
  }
  Crash crash;
  crash.number = in.Number<uint64_t>("number");
  crash.time = in.Words("time");
  const Members application(in["application"]);
  crash.application = {.pid = application.Number<int>("pid"),
                       .program = application.Words("program")};
  const Members backend(in["backend"]);
  crash.backend = {.name = backend.Words("name"),
                   .distribution = backend.Words("distribution"),
                   .version = backend.Words("version"),
                   .directory = backend.ExactText("directory"),
                   .file = backend.ExactText("file"),
                   .hash = backend.Words("hash"),
                   .bytes = backend.Number<int64_t>("bytes"),
                   .modified_ns = backend.Number<int64_t>("modified_ns")};
  crash.device = in.Words("device");
  crash.tier = ValueIn(kSandboxTierNames, in.Words("tier"));
  crash.incarnation = in.Number<uint32_t>("incarnation");
  crash.process = in.Words("process");
  crash.blamed = in.Words("blamed");
  crash.end = ToEnd(Members(in["end"]));
  crash.end.backend = crash.backend.name;
  crash.end.device = crash.device;
  crash.end.crash = crash.number;
  crash.cause = in.Words("cause");
  crash.claims_cause = in.Flag("claims_cause");
  const Members input(in["input"]);
  if (std::string path = input.ExactText("path"); !path.empty()) {
    crash.input =
        Crash::Input{.path = std::move(path),
                     .bytes = input.Number<int64_t>("bytes"),
                     .modified_ns = input.Number<int64_t>("modified_ns"),
                     .device = input.Number<uint64_t>("device"),
                     .inode = input.Number<uint64_t>("inode")};
  }
  crash.request = ToRequest(Members(in["request"]));
  crash.last_message = in.Words("last_message");
  crash.attempt = in.Number<uint32_t>("attempt", 1);
  crash.log = in.Lines("log");
  crash.media_log = in.Lines("media_log");
  crash.had_media = in.Flag("had_media");
  // The record is older than the member media_log.
  if (!in["media_log"].is_array()) {
    crash.media_log = std::move(crash.log);
    crash.log.clear();
    crash.had_media = true;
  }
  crash.outcome = in.Words("outcome");
  crash.unrecorded = in.Number<uint64_t>("unrecorded");
  return crash;
}

}  // namespace bulkhead::crashes
