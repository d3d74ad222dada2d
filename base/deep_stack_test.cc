#include "baton/base/deep_stack.h"

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"

namespace baton {
namespace {

int Depth(int depth) {
  return OnDeepStack([&] { return depth == 0 ? 0 : 1 + Depth(depth - 1); });
}

void Descend(int depth, const std::function<void()>& at_end) {
  OnDeepStack([&] {
    if (depth == 0) {
      at_end();
    } else {
      Descend(depth - 1, at_end);
    }
  });
}

// Runs `body` on a thread with a stack of `bytes`.
void OnThread(size_t bytes, std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* data) -> void* {
                  (*static_cast<std::function<void()>*>(data))();
                  return nullptr;
                },
                &body),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(DeepStackTest, RecursesAMillionLevelsDeep) {
  EXPECT_EQ(Depth(1'000'000), 1'000'000);
}

TEST(DeepStackTest, RecursesOnAThreadWithASmallStack) {
  int depth = 0;
  OnThread(256 * 1024, [&depth] { depth = Depth(300'000) + Depth(10); });
  EXPECT_EQ(depth, 300'010);
}

TEST(DeepStackTest, ThreadLocalVariablesAreThoseOfTheThread) {
  thread_local int here = 0;
  here = 1;
  int found = 0;
  Descend(200'000, [&found] { found = here++; });
  EXPECT_EQ(found, 1);
  EXPECT_EQ(here, 2);
}

TEST(DeepStackTest, ExceptionsPassSegments) {
  std::string what;
  try {
    Descend(200'000, [] { throw std::runtime_error("at the end"); });
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  EXPECT_EQ(what, "at the end");
  EXPECT_EQ(Depth(200'000), 200'000);
}

TEST(DeepStackTest, ReturnsValuesThatCanOnlyBeMoved) {
  std::unique_ptr<int> result;
  Descend(100'000, [&result] {
    result = OnDeepStack([] { return std::make_unique<int>(5); });
  });
  EXPECT_EQ(*result, 5);
}

}  // namespace
}  // namespace baton
