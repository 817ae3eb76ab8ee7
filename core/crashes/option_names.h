// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/transforms.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::crashes {

// Lists of an option's values, with their names in records of crashes, on the
// command line and in Python.

inline constexpr std::pair<OnCorrupt, const char*> kOnCorruptNames[] = {
    {OnCorrupt::kError, "error"},
    {OnCorrupt::kSkip, "skip"},
    {OnCorrupt::kNearest, "nearest"},
    {OnCorrupt::kShow, "show"},
};

inline constexpr std::pair<OutputDtype, const char*> kOutputDtypeNames[] = {
    {OutputDtype::kUint8, "uint8"},
    {OutputDtype::kFloat32, "float32"},
    {OutputDtype::kAuto, "auto"},
};

inline constexpr std::pair<Resize::Filter, const char*> kFilterNames[] = {
    {Resize::Filter::kBilinear, "bilinear"},
    {Resize::Filter::kNearest, "nearest"},
    {Resize::Filter::kBicubic, "bicubic"},
    {Resize::Filter::kArea, "area"},
    {Resize::Filter::kLanczos, "lanczos"},
};

inline constexpr std::pair<SandboxTier, const char*> kSandboxTierNames[] = {
    {SandboxTier::kNone, "none"},
    {SandboxTier::kReduced, "reduced"},
    {SandboxTier::kFull, "full"},
};

}  // namespace bulkhead::crashes
