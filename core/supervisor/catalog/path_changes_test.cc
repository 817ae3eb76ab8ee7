// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/path_changes.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::catalog {
namespace {

class PathChangesTest : public testing::Test {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  struct Loop : kj::TaskSet::ErrorHandler {
    kj::UnixEventPort port;
    kj::EventLoop loop{port};
    kj::WaitScope scope{loop};
    int changed = 0;
    bool finds = false;  // the next look finds a change
    kj::PromiseFulfillerPair<void> looked = kj::newPromiseAndFulfiller<void>();
    PathChanges changes{
        port,
        tasks,
        {.changed = [this] { ++changed; },
         .ask = []() -> kj::Promise<void> { return kj::READY_NOW; },
         .look = [this] { EXPECT_TRUE(changes.settling()); },
         .looked =
             [this] {
               EXPECT_FALSE(changes.settling());
               if (std::exchange(finds, false)) changes.Note();
               looked.fulfiller->fulfill();
             }}};
    kj::TaskSet tasks{*this};

    ~Loop() noexcept {}
    void taskFailed(kj::Exception&& exception) override {
      ADD_FAILURE() << exception.getDescription().cStr();
    }
  };

  void AwaitLook() {
    loop_.looked.promise.wait(loop_.scope);
    loop_.looked = kj::newPromiseAndFulfiller<void>();
  }
  PathChanges& changes() { return loop_.changes; }

  Loop loop_;
  TemporaryTree tree_;
};

TEST_F(PathChangesTest, AWrittenFileIsNotedAndReadOnceItHasSettled) {
  changes().Watch({tree_.path()});
  loop_.tasks.add(changes().Run());
  tree_.Write("file", "text");
  AwaitLook();
  EXPECT_GE(loop_.changed, 1);
}

TEST_F(PathChangesTest, ChangesThatSettleTogetherAreReadOnce) {
  changes().Note();
  changes().Note();
  EXPECT_EQ(loop_.changed, 2);
  EXPECT_EQ(changes().count(), 2u);
  AwaitLook();
  EXPECT_FALSE(changes().settling());
}

TEST_F(PathChangesTest, WhatALookFindsIsReadInARoundOfItsOwn) {
  loop_.finds = true;
  changes().Note();
  AwaitLook();
  EXPECT_TRUE(changes().settling());
  AwaitLook();
  EXPECT_FALSE(changes().settling());
}

}  // namespace
}  // namespace bulkhead::catalog
