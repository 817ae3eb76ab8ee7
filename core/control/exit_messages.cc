// SPDX-License-Identifier: Apache-2.0
#include "core/control/exit_messages.h"

namespace bulkhead {
namespace {

namespace schema = ipc::schema;
using Step = InputPosition::Step;

schema::ExitReport::Kind ToSchema(ExitReport::Kind kind) {
  using Kind = schema::ExitReport::Kind;
  switch (kind) {
    case ExitReport::Kind::kExited:
      return Kind::EXITED;
    case ExitReport::Kind::kSignaled:
      return Kind::SIGNALED;
    case ExitReport::Kind::kSandboxViolation:
      return Kind::VIOLATION;
    case ExitReport::Kind::kOutOfMemory:
      return Kind::OUT_OF_MEMORY;
    case ExitReport::Kind::kDeadline:
      return Kind::LATE;
    case ExitReport::Kind::kProtocolViolation:
      return Kind::BROKE_PROTOCOL;
    case ExitReport::Kind::kUnknown:
      break;
  }
  return Kind::UNKNOWN;
}

ExitReport::Kind FromSchema(schema::ExitReport::Kind kind) {
  switch (kind) {
    case schema::ExitReport::Kind::EXITED:
      return ExitReport::Kind::kExited;
    case schema::ExitReport::Kind::SIGNALED:
      return ExitReport::Kind::kSignaled;
    case schema::ExitReport::Kind::VIOLATION:
      return ExitReport::Kind::kSandboxViolation;
    case schema::ExitReport::Kind::OUT_OF_MEMORY:
      return ExitReport::Kind::kOutOfMemory;
    case schema::ExitReport::Kind::LATE:
      return ExitReport::Kind::kDeadline;
    case schema::ExitReport::Kind::BROKE_PROTOCOL:
      return ExitReport::Kind::kProtocolViolation;
    case schema::ExitReport::Kind::UNKNOWN:
      break;
  }
  return ExitReport::Kind::kUnknown;
}

}  // namespace

InputPosition ToPosition(schema::InputPosition::Reader position) {
  switch (position.which()) {
    case schema::InputPosition::OPENING:
      break;
    case schema::InputPosition::SCANNING:
      return {Step::kScanning};
    case schema::InputPosition::FRAME:
      return {Step::kFrame, position.getFrame()};
  }
  return {Step::kOpening};
}

void Write(const InputPosition& position, schema::InputPosition::Builder out) {
  switch (position.step) {
    case Step::kOpening:
      out.setOpening();
      break;
    case Step::kScanning:
      out.setScanning();
      break;
    case Step::kFrame:
      out.setFrame(position.frame);
      break;
  }
}

ExitReport ToExitReport(schema::ExitReport::Reader report) {
  ExitReport read;
  read.kind = FromSchema(report.getKind());
  read.value = report.getValue();
  read.syscall_trusted = report.getSyscallTrusted();
  read.syscall_number = report.getSyscallNumber();
  read.syscall = report.getSyscall().cStr();
  read.architecture = report.getArchitecture().cStr();
  read.stage = report.getStage();
  read.crash = report.getCrash();
  return read;
}

void Write(const ExitReport& report, schema::ExitReport::Builder out) {
  out.setKind(ToSchema(report.kind));
  out.setValue(report.value);
  out.setSyscallTrusted(report.syscall_trusted);
  out.setSyscallNumber(report.syscall_number);
  out.setSyscall(report.syscall);
  out.setArchitecture(report.architecture);
  out.setStage(static_cast<uint8_t>(report.stage));
  out.setCrash(report.crash);
}

PoisonedPosition ToPoisoned(schema::PoisonedPosition::Reader poisoned) {
  return {.position = ToPosition(poisoned.getPosition()),
          .deaths = poisoned.getDeaths(),
          .last = ToExitReport(poisoned.getLast())};
}

void Write(const PoisonedPosition& poisoned,
           schema::PoisonedPosition::Builder out) {
  Write(poisoned.position, out.initPosition());
  out.setDeaths(poisoned.deaths);
  Write(poisoned.last, out.initLast());
}

}  // namespace bulkhead
