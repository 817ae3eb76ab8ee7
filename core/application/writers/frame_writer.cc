// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/frame_writer.h"

namespace bulkhead::writers {

Status StreamWriter::Write(const Picture& picture) {
  if (Status status = Begin(&picture); !status.ok()) return status;
  return WriteFrame(picture);
}

Status StreamWriter::Finish() {
  if (Status status = Begin(nullptr); !status.ok()) return status;
  return output_.Close();
}

Status StreamWriter::Begin(const Picture* first) {
  if (begun_) return Status();
  begun_ = true;
  return WriteHeader(first);
}

}  // namespace bulkhead::writers
