// A law of random networks of images: ConvertLayout and AlterOpLayout keep every
// bit, whatever the layouts, also of special numbers. The networks have reductions over any
// axes, normalizations, pools and positions of extrema: sums whose order the
// layout must not change.
//
// BATON_LONG_TESTS=1 tries more programs, BATON_PROGRAMS=N as many, from seed
// BATON_FIRST_SEED on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/transform/alter_op_layout.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// A random network of images whose channels are the second axis, or the last.
class RandomImages {
 public:
  explicit RandomImages(uint32_t seed)
      : random_(seed), channels_last_(seed % 2 == 1) {}

  std::string Text() {
    const Map image = {"%x", {Of(1, 2), Channels(), Of(1, 9), Of(1, 9)}};
    params_.push_back(absl::StrCat("%x: ", TypeOf(image)));
    maps_.push_back(image);
    Convolve(image);
    for (int64_t calls = Of(2, 9); calls > 0; --calls) Add();
    std::vector<std::string> results = results_;
    for (size_t i = maps_.size() > 2 ? maps_.size() - 2 : 0; i < maps_.size();
         ++i) {
      results.push_back(maps_[i].name);
    }
    return absl::StrCat("#[version = \"0.0.5\"]\ndef @main(",
                        absl::StrJoin(params_, ", "), ") {\n", body_, "  (",
                        absl::StrJoin(results, ", "), ",)\n}\n");
  }

 private:
  // Extents are in the order N, C, H, W.
  struct Map {
    std::string name;
    std::vector<int64_t> nchw;
  };

  int64_t Of(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Of(1, n) == 1; }
  int64_t Channels() {
    const int64_t many[] = {3, 4, 6, 8, 16, 20, 36};
    return many[Of(0, static_cast<int64_t>(std::size(many)) - 1)];
  }
  // Where the axes N, C, H and W are.
  std::vector<int64_t> Axes() const {
    return channels_last_ ? std::vector<int64_t>{0, 3, 1, 2}
                          : std::vector<int64_t>{0, 1, 2, 3};
  }
  std::string TypeOf(const Map& m) const {
    const int64_t n = m.nchw[0], c = m.nchw[1], h = m.nchw[2], w = m.nchw[3];
    return channels_last_ ? absl::StrCat("Tensor[(", n, ", ", h, ", ", w, ", ",
                                         c, "), float32]")
                          : absl::StrCat("Tensor[(", n, ", ", c, ", ", h, ", ",
                                         w, "), float32]");
  }
  const char* layout() const { return channels_last_ ? "NHWC" : "NCHW"; }
  int64_t channel_axis() const { return channels_last_ ? 3 : 1; }

  std::string Param(absl::string_view shape) {
    const std::string name = absl::StrCat("%w", params_.size());
    params_.push_back(absl::StrCat(name, ": Tensor[", shape, ", float32]"));
    return name;
  }
  std::string Call(absl::string_view call) {
    const std::string name = absl::StrCat("%v", num_calls_++);
    absl::StrAppend(&body_, "  let ", name, " = ", call, ";\n");
    return name;
  }
  void Push(std::vector<int64_t> nchw, absl::string_view call) {
    maps_.push_back({Call(call), std::move(nchw)});
  }
  const Map& Pick() {
    return maps_[static_cast<size_t>(
        Of(std::max<int64_t>(0, static_cast<int64_t>(maps_.size()) - 3),
           static_cast<int64_t>(maps_.size()) - 1))];
  }
  // Some axes, in any order.
  std::vector<int64_t> SomeAxes() {
    std::vector<int64_t> axes(4);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    axes.resize(static_cast<size_t>(Of(1, OneIn(4) ? 4 : 3)));
    return axes;
  }

  void Convolve(const Map& m) {
    const int64_t c = m.nchw[1];
    const int64_t kernel = std::min(
        OneIn(2) ? 1 : 3, static_cast<int>(std::min(m.nchw[2], m.nchw[3])));
    const int64_t pad = kernel / 2;
    int64_t groups = 1;
    int64_t outs = Channels();
    if (OneIn(3)) {
      groups = c;
      outs = c;
    } else if (c % 2 == 0 && OneIn(4)) {
      groups = 2;
      outs = 2 * Of(1, 10);
    }
    const std::string weight =
        channels_last_ ? absl::StrCat("(", kernel, ", ", kernel, ", ",
                                      c / groups, ", ", outs, ")")
                       : absl::StrCat("(", outs, ", ", c / groups, ", ", kernel,
                                      ", ", kernel, ")");
    // Depthwise weights of NHWC are HWOI.
    const bool is_depthwise =
        channels_last_ && groups > 1 && groups == c && outs == c;
    const std::string w = Param(
        is_depthwise ? absl::StrCat("(", kernel, ", ", kernel, ", ", c, ", 1)")
                     : weight);
    Push({m.nchw[0], outs, m.nchw[2] + 2 * pad - kernel + 1,
          m.nchw[3] + 2 * pad - kernel + 1},
         absl::StrCat("nn.conv2d(", m.name, ", ", w, ", padding=[", pad, ", ",
                      pad, ", ", pad, ", ", pad, "], groups=", groups,
                      ", channels=", outs, ", kernel_size=[", kernel, ", ",
                      kernel, "], data_layout=\"", layout(),
                      "\", kernel_layout=\"",
                      is_depthwise     ? "HWOI"
                      : channels_last_ ? "HWIO"
                                       : "OIHW",
                      "\")"));
  }

  void Reduce(const Map& m) {
    const char* const ops[] = {"sum",  "mean",   "max",    "min",
                               "prod", "argmax", "argmin", "variance"};
    const std::string op = ops[Of(0, 7)];
    std::vector<int64_t> axes = SomeAxes();
    const bool exclude = axes.size() < 4 && OneIn(4);
    const bool is_variance = op == "variance";
    const bool keepdims = is_variance || OneIn(2);
    const std::string attrs = absl::StrCat(
        "axis=[", absl::StrJoin(axes, ", "), "]",
        keepdims ? ", keepdims=True" : "", exclude ? ", exclude=True" : "");
    if (is_variance) {
      const std::string mean =
          Call(absl::StrCat("mean(", m.name, ", ", attrs, ")"));
      results_.push_back(Call(
          absl::StrCat("variance(", m.name, ", ", mean, ", ", attrs, ")")));
      return;
    }
    const std::string reduced =
        Call(absl::StrCat(op, "(", m.name, ", ", attrs, ")"));
    if (keepdims && !absl::StartsWith(op, "arg")) {
      Push(m.nchw, absl::StrCat("subtract(", m.name, ", ", reduced, ")"));
    } else {
      results_.push_back(reduced);
    }
  }

  void Normalize(const Map& m) {
    const auto vector = [&](int64_t axis) {
      const std::vector<int64_t> where = Axes();
      for (size_t i = 0; i < 4; ++i) {
        if (where[i] == axis) return absl::StrCat("(", m.nchw[i], ")");
      }
      return std::string();
    };
    const int64_t axis = OneIn(3) ? Of(1, 3) : channel_axis();
    switch (Of(0, 5)) {
      case 0: {
        const std::string shape = vector(channel_axis());
        const std::string g = Param(shape), b = Param(shape);
        const std::string variance =
            Call(absl::StrCat("abs(", Param(shape), ")"));
        const std::string call = Call(
            absl::StrCat("nn.batch_norm(", m.name, ", ", g, ", ", b, ", ", b,
                         ", ", variance, ", axis=", channel_axis(), ")"));
        Push(m.nchw, absl::StrCat(call, ".0"));
        break;
      }
      case 1:
      case 2: {
        const std::string op = OneIn(2) ? "nn.instance_norm" : "nn.layer_norm";
        const std::string gamma = Param(vector(axis));
        const std::string beta = Param(vector(axis));
        Push(m.nchw, absl::StrCat(op, "(", m.name, ", ", gamma, ", ", beta,
                                  ", axis=", axis, ")"));
        break;
      }
      case 3:
        Push(m.nchw,
             absl::StrCat("nn.l2_normalize(", m.name, ", eps=0.001f, axis=[",
                          absl::StrJoin(SomeAxes(), ", "), "])"));
        break;
      case 4: {
        const std::string op = OneIn(2) ? "nn.softmax" : "nn.log_softmax";
        Push(m.nchw, absl::StrCat(op, "(", m.name, ", axis=", Of(0, 3), ")"));
        break;
      }
      default:
        Push(m.nchw, absl::StrCat("nn.lrn(", m.name,
                                  ", size=3, axis=", channel_axis(), ")"));
    }
  }

  void Pool(const Map& m) {
    const std::string of = absl::StrCat(m.name, ", layout=\"", layout(), "\"");
    const int64_t h = m.nchw[2], w = m.nchw[3];
    switch (Of(0, 3)) {
      case 0:
        Push({m.nchw[0], m.nchw[1], 1, 1},
             absl::StrCat(
                 OneIn(2) ? "nn.global_avg_pool2d(" : "nn.global_max_pool2d(",
                 of, ")"));
        break;
      case 1:
        Push({m.nchw[0], m.nchw[1], 1, std::min<int64_t>(2, w)},
             absl::StrCat(OneIn(2) ? "nn.adaptive_avg_pool2d("
                                   : "nn.adaptive_max_pool2d(",
                          of, ", output_size=[1, ", std::min<int64_t>(2, w),
                          "])"));
        break;
      default:
        if (h < 2 || w < 2) return;
        Push({m.nchw[0], m.nchw[1], h, w},
             absl::StrCat(OneIn(2) ? "nn.avg_pool2d(" : "nn.max_pool2d(", of,
                          ", pool_size=[3, 3], padding=[1, 1, 1, 1])"));
    }
  }

  void Move(const Map& m) {
    const int64_t c = m.nchw[1];
    switch (Of(0, 4)) {
      case 0: {
        const std::string other = OneIn(2) ? "negative" : "nn.relu";
        std::vector<int64_t> nchw = m.nchw;
        nchw[1] = 2 * c;
        if (nchw[1] > 64) return;
        Push(nchw, absl::StrCat("concatenate((", m.name, ", ", other, "(",
                                m.name, ")), axis=", channel_axis(), ")"));
        break;
      }
      case 1: {
        if (c % 2 != 0) return;
        const std::string parts = Call(absl::StrCat("split(", m.name,
                                                    ", indices_or_sections=2, "
                                                    "axis=",
                                                    channel_axis(), ")"));
        std::vector<int64_t> nchw = m.nchw;
        nchw[1] = c / 2;
        Push(nchw, absl::StrCat("add(", parts, ".0, ", parts, ".1)"));
        break;
      }
      case 2: {
        std::vector<int64_t> nchw = m.nchw;
        if (nchw[2] * nchw[3] > 100) return;
        nchw[2] *= 2;
        nchw[3] *= 2;
        Push(nchw, OneIn(2)
                       ? absl::StrCat("nn.upsampling(", m.name,
                                      ", scale_h=2f64, scale_w=2f64, layout=\"",
                                      layout(), "\", method=\"bilinear\")")
                       : absl::StrCat("image.resize2d(", m.name, ", size=[",
                                      nchw[2], ", ", nchw[3],
                                      "], roi=[0f, 0f, 0f, 0f], layout=\"",
                                      layout(), "\")"));
        break;
      }
      default: {
        // There and back.
        const std::string moved =
            Call(absl::StrCat("transpose(", m.name, ", axes=[0, 3, 1, 2])"));
        const std::string relu = Call(absl::StrCat("nn.relu(", moved, ")"));
        results_.push_back(Call(absl::StrCat("mean(", relu, ", axis=[2, 3])")));
        Push(m.nchw, absl::StrCat("transpose(", relu, ", axes=[0, 2, 3, 1])"));
      }
    }
  }

  void Add() {
    const Map m = Pick();
    switch (Of(0, 11)) {
      case 0:
      case 1:
      case 2:
        return Convolve(m);
      case 3:
      case 4:
      case 5:
        return Reduce(m);
      case 6:
      case 7:
        return Normalize(m);
      case 8:
        return Pool(m);
      case 9:
        return Move(m);
      case 10:
        return Push(
            m.nchw,
            absl::StrCat(
                "add(", m.name, ", ",
                Param(channels_last_ ? absl::StrCat("(", m.nchw[1], ")")
                                     : absl::StrCat("(", m.nchw[1], ", 1, 1)")),
                ")"));
      default:
        return Push(m.nchw, absl::StrCat(OneIn(2) ? "nn.relu(" : "sigmoid(",
                                         m.name, ")"));
    }
  }

  std::mt19937 random_;
  const bool channels_last_;
  std::vector<std::string> params_;
  std::vector<std::string> results_;
  std::vector<Map> maps_;
  std::string body_;
  int num_calls_ = 0;
};

constexpr absl::string_view kDesired[] = {
    "nn.conv2d:[NHWC,default]",
    "nn.conv2d:[NCHW,default]",
    "nn.conv2d:[NCHW4c,OIHW4i4o]",
    "nn.conv2d:[HWNC,HWIO]",
    "nn.conv2d:[NHCW,OIHW]",
    "nn.conv2d:[NCWH,OIWH]",
    "nn.conv2d:[NHWC,OHWI],nn.max_pool2d:[NCHW],nn.avg_pool2d:[NCHW]",
    "nn.conv2d:[NCHW,OIHW],nn.avg_pool2d:[NHWC],image.resize2d:[NHWC]",
};

// A target that wants the other layout of images.
absl::StatusOr<Expr> Turned(const relay::AlterLayoutQuery& query) {
  auto attrs = *query.attrs.As<relay::Conv2DAttrs>();
  const bool is_last = attrs.data_layout == "NHWC";
  attrs.data_layout = is_last ? "NCHW" : "NHWC";
  attrs.kernel_layout = is_last ? "OIHW" : "HWIO";
  return relay::Call(query.call.op(), query.args,
                     Attrs::Make(std::move(attrs)));
}
BATON_EXTEND_OP("nn.conv2d").Set(relay::AlterLayoutRules("turned"), Turned);

// Checks the laws of bit-exact passes on random networks: passes[k] on each of
// as many seeds.
void CheckOnImages(const std::vector<Pass>& passes) {
  const uint32_t first = TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t count =
      TestSetting("BATON_PROGRAMS", IsLongTest() ? 2000 : 120);
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::string text = RandomImages(seed).Text();
    const bool is_half = seed % 16 == 15;
    if (is_half || seed % 8 == 7) {
      text = absl::StrReplaceAll(
          text, {{"float32]", is_half ? "float16]" : "float64]"}});
    }
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ParseModule(text));
    const absl::StatusOr<IRModule> typed = relay::InferTypes(module);
    ASSERT_TRUE(typed.ok()) << typed.status() << "\n" << text;
    const Pass& pass = passes[seed / 16 % passes.size()];
    ASSERT_TRUE(pass.info().exact);
    const absl::Status status = CheckPassLaws(pass, *typed);
    EXPECT_TRUE(status.ok())
        << "seed " << seed << ", " << pass.name() << " "
        << seed / 16 % passes.size() << ": " << status.message() << "\n"
        << text;
  }
}

TEST(LayoutLawsTest, ConvertLayoutKeepsEveryBit) {
  std::vector<Pass> passes;
  for (const absl::string_view desired : kDesired) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const Pass pass,
        GetRegisteredPass(
            absl::StrCat("ConvertLayout{desired_layouts={", desired, "}}")));
    passes.push_back(pass);
  }
  CheckOnImages(passes);
}

TEST(LayoutLawsTest, AlterOpLayoutKeepsEveryBit) {
  // A target may compute something else, so that the pass promises less.
  const Pass alter = relay::AlterOpLayout({.target = "turned"});
  CheckOnImages({CreateModulePass(
      [alter](const IRModule& module, const PassContext& /*context*/) {
        return alter(module);
      },
      {.name = "Turn", .required = {"InferType"}})});
}

}  // namespace
}  // namespace baton::testing
