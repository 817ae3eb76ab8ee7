// SPDX-License-Identifier: Apache-2.0
#include "tools/install/transaction.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/testing/temporary_tree.h"
#include "tools/install/tree.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;

class TransactionTest : public testing::Test {
 protected:
  std::string Read(const std::string& path) {
    std::ifstream in(tree_ / path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool Exists(const std::string& path) {
    return fs::exists(fs::symlink_status(tree_ / path));
  }

  TemporaryTree tree_;
  const ipc::UniqueFd fd_ = tree_.Open();
};

TEST_F(TransactionTest, MovesOutAndIn) {
  tree_.Write("a-1.dist-info/RECORD", "old");
  tree_.Write("a/gone/x", "old");
  tree_.Write("a/same", "old");
  Result<Transaction> transaction = Transaction::Begin(fd_.get());
  ASSERT_TRUE(transaction) << transaction.error();
  const int staging = transaction->staging();
  ASSERT_TRUE(WriteFile(staging, "a/same", "new", 0644).ok());
  ASSERT_TRUE(WriteFile(staging, "a/come/y", "new", 0755).ok());
  ASSERT_TRUE(WriteFile(staging, "a-2.dist-info/RECORD", "new", 0644).ok());
  const Status status = transaction->Execute({{"a-1.dist-info"},
                                              {"a/gone/x", "a/same"},
                                              {"a/come"},
                                              {"a/come/y", "a/same"},
                                              "a-2.dist-info"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Read("a/same"), "new");
  EXPECT_EQ(Read("a/come/y"), "new");
  EXPECT_EQ(Read("a-2.dist-info/RECORD"), "new");
  EXPECT_FALSE(Exists("a/gone"));
  EXPECT_FALSE(Exists("a-1.dist-info"));
  EXPECT_FALSE(Exists(".bulkhead-transaction"));
}

TEST_F(TransactionTest, FailureMidwayPutsEverythingBack) {
  tree_.Write("a-1.dist-info/RECORD", "old");
  tree_.Write("a/x", "old");
  tree_.Write("foreign", "a file where a folder has to be");
  Result<Transaction> transaction = Transaction::Begin(fd_.get());
  const int staging = transaction->staging();
  ASSERT_TRUE(WriteFile(staging, "a/x", "new", 0644).ok());
  ASSERT_TRUE(WriteFile(staging, "b/c/d", "new", 0644).ok());
  ASSERT_TRUE(WriteFile(staging, "foreign/y", "new", 0644).ok());
  const Status status = transaction->Execute({{"a-1.dist-info"},
                                              {"a/x"},
                                              {"b", "b/c"},
                                              {"a/x", "b/c/d", "foreign/y"},
                                              "a-2.dist-info"});
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Read("a/x"), "old");
  EXPECT_EQ(Read("a-1.dist-info/RECORD"), "old");
  EXPECT_FALSE(Exists("b"));
  EXPECT_FALSE(Exists(".bulkhead-transaction"));
}

TEST_F(TransactionTest, AbandonedOneLeavesNothing) {
  {
    Result<Transaction> transaction = Transaction::Begin(fd_.get());
    ASSERT_TRUE(WriteFile(transaction->staging(), "a/b", "x", 0644).ok());
    EXPECT_FALSE(Transaction::Begin(fd_.get())) << "one at a time";
  }
  EXPECT_TRUE(fs::is_empty(tree_.path()));
}

TEST_F(TransactionTest, NothingToRecoverIsNoNews) {
  const auto recovered = Transaction::Recover(fd_.get());
  ASSERT_TRUE(recovered);
  EXPECT_FALSE(*recovered);
}

TEST_F(TransactionTest, StagedFilesWithoutAJournalAreThrownAway) {
  tree_.Write(".bulkhead-transaction/new/a/b", "x");
  tree_.Write(".bulkhead-transaction/journal.new", "half a jour");
  const auto recovered = Transaction::Recover(fd_.get());
  ASSERT_TRUE(recovered) << recovered.error();
  EXPECT_TRUE(*recovered);
  EXPECT_TRUE(fs::is_empty(tree_.path()));
}

TEST_F(TransactionTest, ForeignJournalsAreNotObeyed) {
  tree_.Write("precious", "x");
  for (const char* journal :
       {"bulkhead-transaction 2\nout precious\n", "", "out precious\n",
        "bulkhead-transaction 1\nout ../precious\n",
        "bulkhead-transaction 1\nout /etc/passwd\n",
        "bulkhead-transaction 1\nshred precious\n",
        "bulkhead-transaction 1\nprecious\n",
        "bulkhead-transaction 1\nout precious"}) {
    tree_.Write(".bulkhead-transaction/journal", journal);
    EXPECT_FALSE(Transaction::Recover(fd_.get())) << journal;
    EXPECT_EQ(Read("precious"), "x");
  }
}

TEST_F(TransactionTest, LinkInPlaceOfTheFolderIsOnlyRemoved) {
  tree_.Write("elsewhere/journal", "bulkhead-transaction 1\nout x\n");
  fs::create_symlink("elsewhere", tree_ / ".bulkhead-transaction");
  EXPECT_TRUE(Transaction::Recover(fd_.get()));
  EXPECT_FALSE(Exists(".bulkhead-transaction"));
  EXPECT_TRUE(Exists("elsewhere/journal"));
}

}  // namespace
}  // namespace bulkhead::install
