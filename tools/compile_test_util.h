// Models, files and runs of programs for tests of `baton-compile`.

#ifndef BATON_TOOLS_COMPILE_TEST_UTIL_H_
#define BATON_TOOLS_COMPILE_TEST_UTIL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

inline constexpr char kPerceptron[] =
    R"(def @main(%x: Tensor[(1, 24), float32], %w0: Tensor[(40, 24), float32], %b0: Tensor[(40), float32], %w1: Tensor[(10, 40), float32]) {
  %0 = nn.dense(%x, %w0, units=40);
  %1 = add(%0, %b0);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w1, units=10);
  tanh(%3)
}
)";

// A network of convolutions, pools, concatenations, shuffles of channels,
// elementwise functions, products and softmax.
inline constexpr char kNetwork[] =
    R"(def @main(%x: Tensor[(1, 3, 19, 17), float32], %m: Tensor[(1, 9, 32), float32]) {
  %0 = sin(arange(0f, 648f, 1f, start=0f, stop=648f, step=1f, dtype="float32"));
  %1 = reshape(%0, newshape=[24, 3, 3, 3]);
  %2 = nn.conv2d(%x, %1, strides=[2, 2], padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]);
  %3 = sin(arange(0f, 24f, 1f, start=0f, stop=24f, step=1f, dtype="float32"));
  %4 = nn.bias_add(%2, %3);
  %5 = nn.relu(%4);
  %6 = cos(arange(0f, 216f, 1f, start=0f, stop=216f, step=1f, dtype="float32"));
  %7 = reshape(%6, newshape=[24, 1, 3, 3]);
  %8 = nn.conv2d(%5, %7, padding=[1, 1, 1, 1], groups=24, channels=24, kernel_size=[3, 3]);
  %9 = add(%8, %5);
  %10 = clip(%9, a_min=-2f, a_max=2.5f);
  %11 = sin(arange(0f, 480f, 1f, start=0f, stop=480f, step=1f, dtype="float32"));
  %12 = reshape(%11, newshape=[20, 24, 1, 1]);
  %13 = nn.conv2d(%10, %12, channels=20, kernel_size=[1, 1]);
  %14 = sigmoid(%13);
  %15 = multiply(%14, %13);
  %16 = (%15, %10);
  %17 = concatenate(%16, axis=1);
  %18 = nn.max_pool2d(%17, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %19 = nn.avg_pool2d(%18, pool_size=[2, 2], strides=[1, 1], padding=[0, 0, 0, 0]);
  %20 = nn.lrn(%19, size=5, axis=1, bias=2f, alpha=0.001f, beta=0.75f);
  %21 = nn.global_avg_pool2d(%20);
  %22 = nn.batch_flatten(%21);
  %23 = sin(arange(0f, 440f, 1f, start=0f, stop=440f, step=1f, dtype="float32"));
  %24 = reshape(%23, newshape=[10, 44]);
  %25 = nn.dense(%22, %24, units=10);
  %26 = transpose(%m, axes=[0, 2, 1]);
  %27 = nn.batch_matmul(%26, %m, transpose_b=False);
  %28 = nn.softmax(%25);
  %29 = erf(%27);
  (%28, %29, %19)
}
)";

// A model whose loop runs `limit` times, an int64 of its text, in which %n is an
// input, and stacks a tensor of each round.
std::string StackingLoop(absl::string_view limit);

// Writes a text to the file `name` of the test's folder, behind a line with its
// version, and returns the path.
std::string ModelFile(absl::string_view name, absl::string_view text);

// The contents of a file; empty if there is none.
std::string TextOf(const std::string& path);

// The names of the files of a folder, sorted.
std::vector<std::string> FilesOf(const std::string& folder);

// The files of a folder and of those in it: their contents by their paths.
std::map<std::string, std::string> ContentsOf(const std::string& folder);

// The sum of the numbers that follow `key` in `text`.
int64_t SumOf(const std::string& text, const std::string& key);

// True if there is a program: a compiler, or another that knows --version.
bool Has(const std::string& tool);

// The output of a command in a folder, with `exit CODE` at its end if the
// command fails.
std::string OutputOf(const std::string& folder, const std::string& command);

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_TEST_UTIL_H_
