// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/decoder_options.h"

#include <climits>
#include <cstdio>
#include <cstring>

extern "C" {
#include <libavutil/opt.h>
}

namespace bulkhead::libav_codec {
namespace {

// The most named values that a text lists, since some options have dozens.
constexpr int kMostNames = 24;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15g", value);
  return text;
}

// Returns the kind of value in words, and whether it is a number with bounds.
const char* KindOf(AVOptionType type, bool* is_number) {
  *is_number = true;
  switch (type) {
    case AV_OPT_TYPE_INT:
    case AV_OPT_TYPE_INT64:
    case AV_OPT_TYPE_UINT64:
      return "a whole number";
    case AV_OPT_TYPE_DOUBLE:
    case AV_OPT_TYPE_FLOAT:
      return "a number";
    default:
      *is_number = false;
  }
  switch (type) {
    case AV_OPT_TYPE_BOOL:
      return "0, 1 or auto";
    case AV_OPT_TYPE_RATIONAL:
      return "a fraction such as 25/1";
    case AV_OPT_TYPE_DURATION:
      return "a time such as 1.5 or 00:01:30";
    case AV_OPT_TYPE_IMAGE_SIZE:
      return "a size such as 320x240";
    default:
      return "";
  }
}

// Returns a text about the values that an option takes, such as "a whole number
// from 0 to 16 or auto". Returns an empty text if libavutil does not declare
// the values.
std::string AllowedValues(AVCodecContext* context, const char* option) {
  void* target = nullptr;
  const AVOption* found = av_opt_find2(context, option, nullptr, 0,
                                       AV_OPT_SEARCH_CHILDREN, &target);
  if (found == nullptr || target == nullptr) return "";
  bool is_number;
  std::string text = KindOf(found->type, &is_number);
  // An option with named values and without a lower bound takes only the names.
  if (is_number && found->unit != nullptr && found->min <= INT_MIN) text = "";
  if (is_number && !text.empty()) {
    text += " from " + Number(found->min) + " to " + Number(found->max);
  }
  // Appends the named values: constants whose unit is the option's unit.
  int names = 0;
  for (const AVOption* other = nullptr;
       found->unit != nullptr && names < kMostNames &&
       (other = av_opt_next(target, other)) != nullptr;) {
    if (other->type != AV_OPT_TYPE_CONST || other->unit == nullptr ||
        std::strcmp(other->unit, found->unit) != 0) {
      continue;
    }
    if (!text.empty()) text += names == 0 ? " or " : ", ";
    text += other->name;
    ++names;
  }
  return text;
}

}  // namespace

Expected<void> SetOptions(const bulkhead_open_parameters& parameters,
                          AVCodecContext* context) {
  for (size_t i = 0; i < parameters.option_count; ++i) {
    const bulkhead_option& option = parameters.options[i];
    const int error =
        av_opt_set(context, option.key, option.value, AV_OPT_SEARCH_CHILDREN);
    if (error == AVERROR_OPTION_NOT_FOUND) {
      return Fail(BULKHEAD_UNSUPPORTED,
                  "the decoder of " + Quoted(parameters.codec->codec) +
                      " has no option " + Quoted(option.key) +
                      "; remove it or choose another backend");
    }
    if (error < 0) {
      const std::string allowed = AllowedValues(context, option.key);
      return Fail(BULKHEAD_UNSUPPORTED,
                  "the decoder of " + Quoted(parameters.codec->codec) +
                      " does not take option " + Quoted(option.key) + " = " +
                      Quoted(option.value) +
                      (allowed.empty() ? "; choose another value"
                                       : "; it takes " + allowed));
    }
  }
  return {};
}

}  // namespace bulkhead::libav_codec
