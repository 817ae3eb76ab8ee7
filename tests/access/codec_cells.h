// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// A codec of pictures that ffmpeg encodes: 40 pictures of a moving test pattern
// in several groups.
struct CodecRow {
  const char* name;
  const char* encoder;  // words of an ffmpeg command
  const char* raw;      // the extension of a raw stream, or null
  const char* size = "96x64";
  int frames = 40;
};
std::span<const CodecRow> CodecRows();

// Names what is done to the file of a codec in a container.
enum class CellKind {
  kAsMuxed,
  kCut,         // copied from a packet in its middle on, which is no keyframe
  kHoles,       // packets that are no keyframes are missing
  kAllFlagged,  // each packet is a keyframe by the container, or has no index
};

// A codec in a container.
struct Cell {
  std::string extension;
  CellKind kind;

  std::string name() const;
};
// Returns the cells of a codec, of which ffmpeg can mux some. Without `all`,
// cells of containers that are much like others are left out.
std::vector<Cell> CellsOf(const CodecRow& codec, bool all);

// Makes the file of a cell, and returns its path. Each test program makes it at
// most once. Returns kNotFound if this machine has no ffmpeg, and kUnsupported
// if ffmpeg does not mux it, or nothing in the file can be changed.
Result<std::string> MakeCell(const CodecRow& codec, const Cell& cell);

}  // namespace bulkhead::tests
