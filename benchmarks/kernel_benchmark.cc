// Benchmark of the blocked kernels: the share of the processor's peak that each
// reaches.
//
//   bazel run //benchmarks:kernel_benchmark [-- WIDTH [NAME]]
//
// WIDTH is 128, 256 or 512 (the widest, if it is not given); NAME is part of
// the names of what runs. A line is a kernel: its least time, its arithmetic
// per second, and the share of what a loop of independent fused multiply-adds
// reached beside it. Both are the best of runs that take turns, so that what
// else the machine does, or how its clock changes, counts little.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/benchmarks/float_memory.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/matmul.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/linear.h"
#include "baton/tools/machine_peak.h"

namespace baton::kernels::blocked {
namespace {

using benchmarks::FloatMemory;
using benchmarks::MakeFloats;

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int VectorBytes(Width width) {
  return width == Width::k512 ? 64 : width == Width::k256 ? 32 : 16;
}

template <typename Run>
void Report(const std::string& name, Width width, double operations,
            double bytes, const Run& run) {
  double best = 1e9;
  double peak = 0;
  run();
  for (int round = 0; round < 5; ++round) {
    peak = std::max(peak, MeasurePeakFlops(VectorBytes(width)));
    const double end = Now() + 0.03;
    int runs = 0;
    while (Now() < end || runs < 3) {
      const double start = Now();
      run();
      best = std::min(best, Now() - start);
      ++runs;
    }
  }
  std::printf("%-34s %9.3f us %7.1f GF/s of %6.1f  %5.1f %%  %6.1f GB/s\n",
              name.c_str(), best * 1e6, operations / best / 1e9, peak / 1e9,
              100 * operations / best / peak, bytes / best / 1e9);
  std::fflush(stdout);
}

struct Options {
  Width width;
  const char* filter;

  bool Takes(const std::string& name) const {
    return filter == nullptr || name.find(filter) != std::string::npos;
  }
};

void Conv(const Options& options, const std::string& name, ConvParams p) {
  if (!options.Takes(name)) return;
  const Kernels* kernels = KernelsOf(options.width);
  const int64_t ins = BlocksOf(p.groups * p.in_channels) * kBlock;
  const int64_t outs = BlocksOf(p.groups * p.out_channels) * kBlock;
  const int64_t taps = p.h.kernel * p.w.kernel;
  const int64_t in = p.h.in * p.w.in;
  const int64_t out = p.h.out * p.w.out;
  const FloatMemory x = MakeFloats(ins * in);
  const FloatMemory y = MakeFloats(outs * out);
  const FloatMemory weights = MakeFloats(outs * p.in_channels * taps);
  const FloatMemory packed = MakeFloats(PackedConvSize(p));
  const FloatMemory bias = MakeFloats(outs);
  const FloatMemory workspace =
      MakeFloats(static_cast<int64_t>(ConvWorkspaceSize(p) / sizeof(float)));
  p.finite_weights = PackConvWeights(p, weights.get(), packed.get());
  Epilogue epilogue;
  epilogue.bias = bias.get();
  epilogue.low = 0;
  const int64_t items = ConvItems(p);
  Report(name, options.width,
         2.0 * static_cast<double>(p.groups * p.out_channels * out *
                                   p.in_channels * taps),
         4.0 * static_cast<double>(ins * in + outs * out + PackedConvSize(p)),
         [&] {
           kernels->conv(p, x.get(), packed.get(), epilogue, y.get(),
                         workspace.get(), false, 0, items);
         });
}

// A convolution whose result has `size` rows and columns.
void Conv(const Options& options, int64_t size, int64_t kernel, int64_t stride,
          int64_t in, int64_t out) {
  ConvParams p;
  p.in_channels = in;
  p.out_channels = out;
  for (Axis* axis : {&p.h, &p.w}) {
    axis->in = size * stride;
    axis->out = size;
    axis->kernel = kernel;
    axis->stride = stride;
    axis->pad_before = kernel / 2;
  }
  char name[64];
  std::snprintf(name, sizeof(name), "%dx%d/%d %d -> %d at %d",
                static_cast<int>(kernel), static_cast<int>(kernel),
                static_cast<int>(stride), static_cast<int>(in),
                static_cast<int>(out), static_cast<int>(size));
  if (in < 16) p.planar_input = true;
  Conv(options, name, p);
}

void Depthwise(const Options& options, int64_t size, int64_t kernel,
               int64_t stride, int64_t channels) {
  ConvParams p;
  p.groups = channels;
  for (Axis* axis : {&p.h, &p.w}) {
    axis->in = size * stride;
    axis->out = size;
    axis->kernel = kernel;
    axis->stride = stride;
    axis->pad_before = kernel / 2;
  }
  char name[64];
  std::snprintf(name, sizeof(name), "depthwise %dx%d/%d %d at %d",
                static_cast<int>(kernel), static_cast<int>(kernel),
                static_cast<int>(stride), static_cast<int>(channels),
                static_cast<int>(size));
  Conv(options, name, p);
}

void Grouped(const Options& options, int64_t size, int64_t kernel,
             int64_t groups, int64_t in, int64_t out) {
  ConvParams p;
  p.groups = groups;
  p.in_channels = in;
  p.out_channels = out;
  for (Axis* axis : {&p.h, &p.w}) {
    axis->in = axis->out = size;
    axis->kernel = kernel;
    axis->pad_before = kernel / 2;
  }
  char name[64];
  std::snprintf(name, sizeof(name), "grouped %dx%d %d x %d -> %d at %d",
                static_cast<int>(kernel), static_cast<int>(kernel),
                static_cast<int>(groups), static_cast<int>(in),
                static_cast<int>(out), static_cast<int>(size));
  Conv(options, name, p);
}

void Product(const Options& options, int64_t m, int64_t k, int64_t n) {
  char name[64];
  std::snprintf(name, sizeof(name), "matmul %d x %d x %d", static_cast<int>(m),
                static_cast<int>(k), static_cast<int>(n));
  if (!options.Takes(name)) return;
  MatmulParams p;
  p.m = m;
  p.k = k;
  p.n = n;
  const Kernels* kernels = KernelsOf(options.width);
  const FloatMemory x = MakeFloats(m * k);
  const FloatMemory b = MakeFloats(k * n);
  const FloatMemory y = MakeFloats(m * n);
  const FloatMemory packed = MakeFloats(PackedMatmulSize(p));
  const FloatMemory workspace =
      MakeFloats(static_cast<int64_t>(MatmulWorkspaceSize(p) / sizeof(float)));
  PackMatmul(p, b.get(), false, packed.get());
  Epilogue epilogue;
  const int64_t items = MatmulItems(p);
  Report(name, options.width, 2.0 * static_cast<double>(m * n * k),
         4.0 * static_cast<double>(m * k + k * n + m * n), [&] {
           kernels->matmul(p, x.get(), packed.get(), epilogue, y.get(),
                           workspace.get(), false, 0, items);
         });
}

// Times the convolution in the evaluator, which packs weights in each run.
void Evaluator(const Options& options, int64_t size, int64_t kernel,
               int64_t stride, int64_t in, int64_t out, int64_t groups = 1) {
  char name[64];
  std::snprintf(name, sizeof(name), "evaluator %dx%d/%d %d x %d -> %d at %d",
                static_cast<int>(kernel), static_cast<int>(kernel),
                static_cast<int>(stride), static_cast<int>(groups),
                static_cast<int>(in), static_cast<int>(out),
                static_cast<int>(size));
  if (!options.Takes(name)) return;
  const auto random = [](const TensorShape& shape) {
    MutableTensor tensor = *MutableTensor::Create(DType::Float(32), shape);
    float value = 0;
    for (float& x : tensor.span<float>()) {
      value = value > 1 ? value - 1.7f : value + 0.37f;
      x = value;
    }
    return std::move(tensor).Freeze();
  };
  const Tensor x = random({1, groups * in, size * stride, size * stride});
  const Tensor weights = random({groups * out, in, kernel, kernel});
  Conv2dParams params;
  params.groups = groups;
  params.strides = {stride, stride};
  const int64_t pad = kernel / 2;
  params.padding = {pad, pad, pad - (stride > 1), pad - (stride > 1)};
  if (kernel == 1) params.padding = {};
  Report(name, BestWidth(),
         2.0 * static_cast<double>(groups * out * size * size * in * kernel *
                                   kernel),
         0, [&] { Conv2d(x, weights, params).value(); });
}

void EvaluatorProduct(const Options& options, int64_t m, int64_t k, int64_t n) {
  char name[64];
  std::snprintf(name, sizeof(name), "evaluator dense %d x %d x %d",
                static_cast<int>(m), static_cast<int>(k), static_cast<int>(n));
  if (!options.Takes(name)) return;
  const Tensor x = *Tensor::Zeros(DType::Float(32), {m, k});
  const Tensor weights = *Tensor::Zeros(DType::Float(32), {n, k});
  Report(name, BestWidth(), 2.0 * static_cast<double>(m * n * k),
         4.0 * static_cast<double>(m * k + k * n + m * n),
         [&] { Dense(x, weights, DType()).value(); });
}

int Main(int argc, char** argv) {
  Options options = {BestWidth(), argc > 2 ? argv[2] : nullptr};
  if (argc > 1) {
    const int bits = std::atoi(argv[1]);
    if (bits == 128) options.width = Width::k128;
    if (bits == 256) options.width = Width::k256;
    if (bits == 512) options.width = Width::k512;
    if (!IsSupported(options.width)) {
      std::fprintf(stderr, "this processor has no vectors of %s bits\n",
                   argv[1]);
      return 1;
    }
  }
  Conv(options, 112, 7, 2, 3, 64);
  Conv(options, 56, 3, 1, 64, 64);
  Conv(options, 28, 3, 1, 128, 128);
  Conv(options, 14, 3, 1, 256, 256);
  Conv(options, 7, 3, 1, 512, 512);
  Conv(options, 28, 3, 2, 128, 128);
  Conv(options, 7, 3, 2, 512, 512);
  Conv(options, 56, 1, 1, 64, 64);
  Conv(options, 56, 1, 1, 64, 256);
  Conv(options, 56, 1, 1, 256, 64);
  Conv(options, 28, 1, 1, 128, 512);
  Conv(options, 28, 1, 1, 512, 128);
  Conv(options, 14, 1, 1, 256, 1024);
  Conv(options, 14, 1, 1, 1024, 256);
  Conv(options, 7, 1, 1, 512, 2048);
  Conv(options, 7, 1, 1, 2048, 512);
  Conv(options, 28, 1, 2, 256, 512);
  Conv(options, 7, 1, 2, 1024, 2048);
  Depthwise(options, 112, 3, 1, 32);
  Depthwise(options, 56, 3, 2, 96);
  Depthwise(options, 28, 3, 1, 192);
  Depthwise(options, 14, 3, 1, 384);
  Depthwise(options, 14, 5, 1, 384);
  Depthwise(options, 7, 3, 1, 960);
  Grouped(options, 28, 1, 4, 60, 60);
  Grouped(options, 28, 3, 32, 8, 8);
  Grouped(options, 14, 3, 4, 64, 64);
  Product(options, 1, 4096, 4096);
  Product(options, 1, 2048, 1000);
  Product(options, 1, 256, 1024);
  Product(options, 2, 1024, 1024);
  Product(options, 8, 1024, 1024);
  Product(options, 128, 768, 768);
  Product(options, 128, 768, 3072);
  Product(options, 512, 512, 512);
  Evaluator(options, 112, 7, 2, 3, 64);
  Evaluator(options, 56, 3, 1, 64, 64);
  Evaluator(options, 14, 3, 1, 256, 256);
  Evaluator(options, 7, 3, 1, 512, 512);
  Evaluator(options, 28, 3, 2, 128, 128);
  Evaluator(options, 56, 1, 1, 64, 256);
  Evaluator(options, 14, 1, 1, 1024, 256);
  Evaluator(options, 28, 3, 1, 1, 1, 192);
  Evaluator(options, 28, 1, 1, 60, 60, 4);
  EvaluatorProduct(options, 1, 4096, 4096);
  EvaluatorProduct(options, 2, 1024, 1024);
  EvaluatorProduct(options, 128, 768, 768);
  return 0;
}

}  // namespace
}  // namespace baton::kernels::blocked

int main(int argc, char** argv) {
  return baton::kernels::blocked::Main(argc, argv);
}
