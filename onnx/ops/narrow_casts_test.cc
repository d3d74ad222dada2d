#include "baton/onnx/ops/narrow_casts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/onnx/model.h"
#include "baton/onnx/narrow_float.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "gtest/gtest.h"

namespace baton::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
std::vector<double> Rounded(const std::vector<T>& values,
                            const NarrowFloat& format, bool saturates,
                            absl::string_view rounding = "up") {
  const Tensor tensor =
      *Tensor::FromValues<T>({static_cast<int64_t>(values.size())}, values);
  const absl::StatusOr<Expr> expr = ToNarrowFloat(
      relay::Const(tensor), tensor.dtype(), format, saturates, rounding);
  EXPECT_TRUE(expr.ok()) << expr.status().message();
  if (!expr.ok()) return {};
  const absl::StatusOr<Expr> typed = relay::InferTypeOf(*expr);
  EXPECT_TRUE(typed.ok()) << typed.status().message();
  if (!typed.ok()) return {};
  const absl::StatusOr<relay::Value> result = relay::Evaluate(*typed, nullptr);
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok()) return {};
  std::vector<double> numbers;
  for (int64_t i = 0; i < result->tensor().num_elements(); ++i) {
    numbers.push_back(result->tensor().AtAsDouble(i));
  }
  return numbers;
}

void ExpectSame(double want, double got, double from) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << got << " for " << from;
  } else {
    EXPECT_EQ(want, got) << "for " << from;
    EXPECT_EQ(std::signbit(want), std::signbit(got)) << "for " << from;
  }
}

// The values of a format that are not negative, in order, and the one that
// would follow the largest.
std::vector<double> Magnitudes(const NarrowFloat& format) {
  std::vector<double> result;
  for (int code = 0; code < 1 << (format.bits - 1); ++code) {
    const double value = format.ValueOf(code);
    if (std::isfinite(value)) result.push_back(value);
  }
  const size_t size = result.size();
  EXPECT_EQ(result.back(), format.max);
  result.push_back(2 * result[size - 1] - result[size - 2]);
  return result;
}

template <typename T>
void ExpectNearest(const NarrowFloat& format) {
  const std::vector<double> magnitudes = Magnitudes(format);
  const bool has_nan =
      format.has_infinity || format.is_nan_last || format.is_nan_minus_zero;
  const double beyond = format.has_infinity ? kInfinity : kNan;
  std::vector<T> from;
  std::vector<double> want[2];  // those of saturating casts second
  const auto add = [&](double value, double rounded) {
    for (const int sign : {1, -1}) {
      from.push_back(static_cast<T>(sign * value));
      double wanted = sign * rounded;
      if (wanted == 0 && format.is_nan_minus_zero) wanted = 0;
      const bool is_beyond = rounded > format.max;
      want[0].push_back(!is_beyond ? wanted
                        : has_nan  ? sign * beyond
                                   : sign * format.max);
      want[1].push_back(is_beyond ? sign * format.max : wanted);
    }
  };
  for (size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    const double low = magnitudes[i];
    const double high = magnitudes[i + 1];
    const auto middle = static_cast<T>((low + high) / 2);
    add(low, low);
    add(middle, i % 2 == 0 ? low : high);
    add(std::nextafter(middle, T{0}), low);
    add(std::nextafter(middle, static_cast<T>(high)), high);
  }
  add(1e30, kInfinity);
  add(kInfinity, kInfinity);
  for (const bool saturates : {false, true}) {
    SCOPED_TRACE(saturates);
    // Without NaN, what is too large always becomes the largest value.
    const std::vector<double> got = Rounded<T>(from, format, saturates);
    ASSERT_EQ(got.size(), from.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const double wanted = want[saturates ? 1 : 0][i];
      ExpectSame(wanted, got[i], static_cast<double>(from[i]));
    }
  }
  const std::vector<double> nan =
      Rounded<T>({static_cast<T>(kNan)}, format, true);
  ASSERT_EQ(nan.size(), 1u);
  ExpectSame(has_nan ? kNan : 0, nan[0], kNan);
}

TEST(NarrowFloatTest, RoundsToTheNearestEvenValue) {
  for (const ElementType type :
       {ElementType::kFloat8E4M3Fn, ElementType::kFloat8E4M3Fnuz,
        ElementType::kFloat8E5M2, ElementType::kFloat8E5M2Fnuz,
        ElementType::kFloat4E2M1}) {
    const auto number = static_cast<int64_t>(type);
    SCOPED_TRACE(ElementTypeName(number));
    const NarrowFloat* const format = NarrowFloatOf(number);
    ASSERT_NE(format, nullptr);
    ExpectNearest<float>(*format);
    ExpectNearest<double>(*format);
  }
}

TEST(NarrowFloatTest, ValuesOfBits) {
  const auto value = [](ElementType type, int code) {
    return NarrowFloatOf(static_cast<int64_t>(type))->ValueOf(code);
  };
  EXPECT_EQ(value(ElementType::kFloat8E4M3Fn, 0x38), 1);
  EXPECT_EQ(value(ElementType::kFloat8E4M3Fn, 0xfe), -448);
  EXPECT_EQ(value(ElementType::kFloat8E4M3Fn, 0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(value(ElementType::kFloat8E4M3Fn, 0x7f)));
  EXPECT_EQ(value(ElementType::kFloat8E4M3Fnuz, 0x7f), 240);
  EXPECT_TRUE(std::isnan(value(ElementType::kFloat8E4M3Fnuz, 0x80)));
  EXPECT_EQ(value(ElementType::kFloat8E5M2, 0xfc), -kInfinity);
  EXPECT_TRUE(std::isnan(value(ElementType::kFloat8E5M2, 0x7d)));
  EXPECT_EQ(value(ElementType::kFloat8E5M2Fnuz, 0x7f), 57344);
  EXPECT_EQ(value(ElementType::kFloat4E2M1, 0xf), -6);
  EXPECT_EQ(value(ElementType::kFloat4E2M1, 0x1), 0.5f);
  EXPECT_EQ(value(ElementType::kFloat8E8M0, 0), 0x1p-127f);
  EXPECT_EQ(value(ElementType::kFloat8E8M0, 254), 0x1p127f);
  EXPECT_TRUE(std::isnan(value(ElementType::kFloat8E8M0, 255)));
  EXPECT_EQ(NarrowFloatOf(static_cast<int64_t>(ElementType::kInt4)), nullptr);
}

TEST(NarrowFloatTest, ExponentsAlone) {
  const NarrowFloat& format =
      *NarrowFloatOf(static_cast<int64_t>(ElementType::kFloat8E8M0));
  const std::vector<float> from = {1,         1.4f,     1.5f,       1.6f,     0,
                                   0x1p-127f, 0x1p127f, 0x1.8p127f, HUGE_VALF};
  const std::vector<double> up = {1,        2,       2,       2,      0x1p-127,
                                  0x1p-126, 0x1p127, 0x1p127, 0x1p127};
  const std::vector<double> down = {
      1, 1, 1, 1, 0x1p-127, 0x1p-127, 0x1p127, 0x1p127, 0x1p127};
  const std::vector<double> nearest = {1,        1,       2,    2,   kNan,
                                       0x1p-127, 0x1p127, kNan, kNan};
  const auto expect = [&](const std::vector<double>& want,
                          const std::vector<double>& got) {
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ExpectSame(want[i], got[i], from[i]);
    }
  };
  expect(up, Rounded<float>(from, format, true, "up"));
  expect(down, Rounded<float>(from, format, true, "down"));
  expect(nearest, Rounded<float>(from, format, false, "nearest"));
}

}  // namespace
}  // namespace baton::onnx
