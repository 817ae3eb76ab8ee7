// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/command_name.h"

namespace bulkhead::cli::top {

const char* NameOf(BackendCommand command) {
  switch (command) {
    case BackendCommand::kRestart:
      return "restart";
    case BackendCommand::kReload:
      return "reload";
    case BackendCommand::kDisable:
      return "disable";
    case BackendCommand::kEnable:
      return "enable";
  }
  return "";
}

}  // namespace bulkhead::cli::top
