// SPDX-License-Identifier: Apache-2.0
#include "tools/install/transaction.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/text.h"
#include "tools/install/record.h"
#include "tools/install/tree.h"

namespace bulkhead::install {
namespace {

constexpr char kFolder[] = ".bulkhead-transaction";
constexpr char kJournal[] = "journal";
constexpr char kUnfinishedJournal[] = "journal.new";
constexpr std::string_view kHeader = "bulkhead-transaction 1\n";
constexpr size_t kMaxJournalBytes = size_t{64} << 20;

// Formats the plan with one line for each path. ValidatePath refuses paths with
// line feeds.
std::string Format(const Plan& plan) {
  std::string text(kHeader);
  const auto add = [&](const char* verb,
                       const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      text += std::string(verb) + ' ' + path + '\n';
    }
  };
  add("hide", plan.hide);
  add("out", plan.out);
  add("create", plan.create);
  add("in", plan.in);
  if (!plan.show.empty()) add("show", {plan.show});
  return text;
}

// Returns the plan of a journal, or nullopt if the text has another format.
std::optional<Plan> Parse(std::string_view text_untrusted) {
  if (!text_untrusted.starts_with(kHeader)) return std::nullopt;
  text_untrusted.remove_prefix(kHeader.size());
  Plan plan;
  while (!text_untrusted.empty()) {
    const size_t end = text_untrusted.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text_untrusted.substr(0, end);
    text_untrusted.remove_prefix(end + 1);
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view verb = line.substr(0, space);
    const std::string path(line.substr(space + 1));
    if (!ValidatePath(path).ok()) return std::nullopt;
    if (verb == "hide") {
      plan.hide.push_back(path);
    } else if (verb == "out") {
      plan.out.push_back(path);
    } else if (verb == "create") {
      plan.create.push_back(path);
    } else if (verb == "in") {
      plan.in.push_back(path);
    } else if (verb == "show") {
      plan.show = path;
    } else {
      return std::nullopt;
    }
  }
  return plan;
}

bool Exists(int root, const std::string& path) {
  return KindAt(root, path).has_value();
}

// Moves `path`. Does nothing if an earlier run, which was killed, has moved it.
Status MoveOnce(int from, int to, const std::string& path) {
  if (Exists(to, path) || !Exists(from, path)) return Status();
  return Move(from, to, path);
}

Status Flush(int fd) {
  if (syncfs(fd) == 0) return Status();
  return FromErrno("cannot write to the disk", errno);
}

}  // namespace

Transaction::Transaction(int directory, ipc::UniqueFd own,
                         ipc::UniqueFd incoming, ipc::UniqueFd outgoing)
    : directory_(directory),
      own_(std::move(own)),
      new_(std::move(incoming)),
      old_(std::move(outgoing)) {}

Transaction::~Transaction() {
  if (own_ && !journaled_) (void)RemoveTree(directory_, kFolder);
}

Result<Transaction> Transaction::Begin(int directory) {
  if (mkdirat(directory, kFolder, 0700) != 0) {
    return FromErrno(errno == EEXIST ? Quoted(kFolder) : "cannot write there",
                     errno);
  }
  return Open(directory);
}

Result<Transaction> Transaction::Open(int directory) {
  Result<ipc::UniqueFd> own = MakeFolder(directory, kFolder);
  if (!own) return own.error();
  Result<ipc::UniqueFd> incoming = MakeFolder(own->get(), "new");
  if (!incoming) return incoming.error();
  Result<ipc::UniqueFd> outgoing = MakeFolder(own->get(), "old");
  if (!outgoing) return outgoing.error();
  return Transaction(directory, *std::move(own), *std::move(incoming),
                     *std::move(outgoing));
}

Status Transaction::Execute(const Plan& plan) {
  // The journal gets its name only when it and the files in `new` are on disk.
  Status status = WriteFile(own_.get(), kUnfinishedJournal, Format(plan), 0600);
  if (status.ok()) status = Flush(own_.get());
  if (!status.ok()) return status;
  if (renameat(own_.get(), kUnfinishedJournal, own_.get(), kJournal) != 0) {
    return FromErrno("cannot write the journal", errno);
  }
  journaled_ = true;
  fsync(own_.get());

  status = Apply(plan);
  if (status.ok()) status = Flush(directory_);
  if (status.ok()) return Finish();
  const Status back = PutBack(plan);
  if (back.ok()) {
    (void)Finish();
    return status;
  }
  return Status(back.code(), status.message() +
                                 "; and then, putting back what was there: " +
                                 back.message() +
                                 ". The next install or uninstall tries again");
}

Status Transaction::Apply(const Plan& plan) const {
  for (const std::string& folder : plan.hide) {
    Status status = MoveOnce(directory_, old_.get(), folder);
    if (!status.ok()) return status;
  }
  for (const std::string& file : plan.out) {
    Status status = MoveOnce(directory_, old_.get(), file);
    if (!status.ok()) return status;
  }
  for (const std::string& file : plan.out) {
    RemoveEmptyParents(directory_, file);
  }
  // Move() creates the folders of plan.create.
  for (const std::string& file : plan.in) {
    if (!Exists(new_.get(), file)) continue;
    Status status = Move(new_.get(), directory_, file);
    if (!status.ok()) return status;
  }
  if (plan.show.empty() || !Exists(new_.get(), plan.show)) return Status();
  return Move(new_.get(), directory_, plan.show);
}

Status Transaction::PutBack(const Plan& plan) const {
  if (!plan.show.empty()) {
    Status status = MoveOnce(directory_, new_.get(), plan.show);
    if (!status.ok()) return status;
  }
  for (const std::string& file : plan.in) {
    Status status = MoveOnce(directory_, new_.get(), file);
    if (!status.ok()) return status;
  }
  for (auto it = plan.create.rbegin(); it != plan.create.rend(); ++it) {
    RemoveEmptyFolder(directory_, *it);
  }
  for (const std::string& file : plan.out) {
    if (!Exists(old_.get(), file)) continue;
    Status status = Move(old_.get(), directory_, file);
    if (!status.ok()) return status;
  }
  for (const std::string& folder : plan.hide) {
    if (!Exists(old_.get(), folder)) continue;
    Status status = Move(old_.get(), directory_, folder);
    if (!status.ok()) return status;
  }
  return Status();
}

Status Transaction::Finish() const {
  // The journal is removed first. Without a journal, the next installer removes
  // the other files unread, so this process may be killed at any moment.
  if (unlinkat(own_.get(), kJournal, 0) != 0 && errno != ENOENT) {
    return FromErrno("cannot remove the journal", errno);
  }
  fsync(own_.get());
  return RemoveTree(directory_, kFolder);
}

Result<std::optional<std::string>> Transaction::Recover(int directory) {
  const auto found = KindAt(directory, kFolder);
  if (!found) return std::optional<std::string>();
  const std::string path = std::string(kFolder) + "/" + kJournal;
  if (!Exists(directory, path)) {
    Status status = RemoveTree(directory, kFolder);
    if (!status.ok()) return status;
    return std::optional<std::string>(
        "an interrupted installation had left files, which were removed");
  }
  const Result<std::string> text =
      ReadFileBeneath(directory, path, kMaxJournalBytes);
  const std::optional<Plan> plan = text ? Parse(*text) : std::nullopt;
  if (!plan) {
    return Status(Code::kInvalidArgument,
                  Quoted(path) +
                      " is not a journal of this Bulkhead: use the one that "
                      "wrote it, or look into that folder and remove it");
  }
  Result<Transaction> left = Open(directory);
  if (!left) return left.error();
  left->journaled_ = true;
  // Completes a removal, and an installation whose new dist-info folder was
  // moved in. Undoes any other installation.
  const bool forward =
      plan->show.empty() || !Exists(left->new_.get(), plan->show);
  Status status = forward ? left->Apply(*plan) : left->PutBack(*plan);
  if (status.ok()) status = Flush(directory);
  if (status.ok()) status = left->Finish();
  if (!status.ok()) {
    return status.WithContext("cleaning up after an interrupted installer");
  }
  return std::optional<std::string>(
      forward ? "an interrupted change was completed"
              : "an interrupted installation was undone");
}

}  // namespace bulkhead::install
