// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what is read about the ends of processes: crash notes of dying
// processes, and records of crashes and quarantines in the state directory. The
// first byte of the input selects the reader; the rest is the packet or the
// file.

#include <capnp/message.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/control/crash_note.h"
#include "core/control/exit_report.h"
#include "core/crashes/crash_json.h"
#include "core/crashes/crash_store.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "ipc/capnp_read.h"
#include "ipc/schema/types.capnp.h"
#include "ipc/worker_exit.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/packet.h"
#include "tests/fuzz/printable_check.h"
#include "tests/fuzz/scratch_directory.h"

namespace {

using namespace bulkhead;

constexpr size_t kMaxWords = 4096;

void FuzzNote(std::span<const uint8_t> packet) {
  auto message = fuzz::Received(packet);
  if (!message) return;
  const auto claim = ipc::ReadCatching([&]() -> ipc::Expected<CrashClaim> {
    auto note = message->root<ipc::schema::CrashNote>();
    if (!note) return tl::unexpected(std::move(note).error());
    return ReadCrashNote(*note);
  });
  if (!claim) return;
  FUZZ_CHECK(claim->backtrace.size() <= 64);
  for (const std::string& place : claim->backtrace) CheckPrintable(place, 480);
  if (IsAdmission(*claim)) {
    FUZZ_CHECK(claim->signal == 0 && claim->address == 0);
    FUZZ_CHECK(claim->backtrace.size() <= 1);
  }
  ExitReport report{.kind = ExitReport::Kind::kExited,
                    .value = ipc::kExitDeviceLost};
  AddClaim(*claim, report);
  FUZZ_CHECK(claim->device_lost || report.claimed_backtrace.empty());
  CheckPrintable(DescribeExit(report), kMaxWords);

  capnp::MallocMessageBuilder copy;
  Write(*claim, copy.initRoot<ipc::schema::CrashNote>());
  const CrashClaim again =
      ReadCrashNote(copy.getRoot<ipc::schema::CrashNote>().asReader());
  FUZZ_CHECK(again.signal == claim->signal && again.address == claim->address);
  FUZZ_CHECK(again.backtrace == claim->backtrace);
}

void FuzzCrash(std::string_view text) {
  static const fuzz::ScratchDirectory state;
  static const crashes::CrashStore store(state.path());
  static const uint64_t number = store.Add(Crash()).value();
  static const std::string file = state.OnlyFile("crashes");
  state.Write(file, text);
  const auto crash = store.Read(number);
  const auto all = store.ReadAll();
  FUZZ_CHECK(all && all->crashes.size() == (crash ? 1 : 0));
  FUZZ_CHECK(all->diagnostics.empty() == crash.has_value());
  if (!crash) return;
  for (const std::string& words :
       {crash->time, crash->application.program, crash->backend.name,
        crash->backend.distribution, crash->backend.version,
        crash->backend.hash, crash->device, crash->process, crash->blamed,
        crash->end.position, crash->end.syscall, crash->end.architecture,
        crash->cause, crash->last_message, crash->outcome}) {
    CheckPrintable(words, kMaxWords);
  }
  for (const auto* lines :
       {&crash->log, &crash->media_log, &crash->end.claimed_backtrace}) {
    FUZZ_CHECK(lines->size() <= 128);
    for (const std::string& line : *lines) CheckPrintable(line, kMaxWords);
  }
  CheckPrintable(DescribeExit(crash->end), 4 * kMaxWords);
  (void)crashes::ToJsonWithoutMediaText(*crash);

  // What is written of a record reads back as the same.
  const std::string once = crashes::ToText(*crash, SIZE_MAX);
  const auto read = crashes::ParseCrash(once);
  FUZZ_CHECK(read);
  const std::string twice = crashes::ToText(*read, SIZE_MAX);
  const auto again = crashes::ParseCrash(twice);
  FUZZ_CHECK(again && crashes::ToText(*again, SIZE_MAX) == twice);
  if (store.SetOutcome(number, "recovered").ok()) {
    const auto changed = store.Read(number);
    FUZZ_CHECK(changed && changed->outcome == "recovered");
  }
}

void FuzzQuarantine(std::string_view text) {
  const std::string path = "/plugin.so";
  static const fuzz::ScratchDirectory state;
  static blame::QuarantineRecords records(state.path());
  static const std::string file = [&] {
    FUZZ_CHECK(records.Add({.backend = "acme", .path = path}).ok());
    return state.OnlyFile(".");
  }();
  state.Write(file, text);
  const auto record = records.Find(path);
  FUZZ_CHECK(records.diagnostics().size() <= 16);
  (void)records.All();
  if (!record) return;
  FUZZ_CHECK(record->path == path);
  CheckPrintable(record->backend, kMaxWords);
  CheckPrintable(record->reason, kMaxWords);
  FUZZ_CHECK(record->code == Code::kBackendMisbehaved ||
             record->code == Code::kBackendUnavailable);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  switch (data[0]) {
    case 'n':
      FuzzNote({data + 1, size - 1});
      break;
    case 'c':
      FuzzCrash(text);
      break;
    case 'q':
      FuzzQuarantine(text);
      break;
  }
  return 0;
}
