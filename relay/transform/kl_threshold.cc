#include "baton/relay/transform/kl_threshold.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/types/span.h"

namespace baton::relay {
namespace {

constexpr int kBins = 8001;
constexpr int kLevels = 255;

struct Histogram {
  std::vector<int64_t> counts;
  std::vector<float> edges;  // one more than counts
};

// Bins of one width over [-largest, largest]; the last edge is in the last bin.
Histogram HistogramOf(absl::Span<const float> values, float largest) {
  Histogram histogram;
  histogram.counts.resize(kBins);
  const double width = 2.0 * largest / kBins;
  for (int i = 0; i <= kBins; ++i) {
    histogram.edges.push_back(
        i == kBins ? largest : static_cast<float>(i * width - largest));
  }
  for (const float value : values) {
    const auto guess = static_cast<int>((value + largest) / width);
    int bin = std::clamp(guess, 0, kBins - 1);
    // Rounding may have gone over an edge.
    if (bin > 0 && value < histogram.edges[bin]) --bin;
    if (bin < kBins - 1 && value >= histogram.edges[bin + 1]) ++bin;
    ++histogram.counts[bin];
  }
  return histogram;
}

// Gives a little of what the others have to what is zero. False if too much
// is zero.
bool Smooth(std::vector<float>& distribution) {
  constexpr float kShare = 1e-4f;
  const auto zeros = static_cast<float>(
      std::count(distribution.begin(), distribution.end(), 0.0f));
  const float others = static_cast<float>(distribution.size()) - zeros;
  if (others == 0) return false;
  const float taken = kShare * zeros / others;
  if (taken >= 1) return false;
  for (float& x : distribution) x += x == 0 ? kShare : -taken;
  return true;
}

float Divergence(const std::vector<float>& p, const std::vector<float>& q) {
  const float p_sum = std::accumulate(p.begin(), p.end(), 0.0f);
  const float q_sum = std::accumulate(q.begin(), q.end(), 0.0f);
  float sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const float p_part = p[i] / p_sum;
    const float q_part = q[i] / q_sum;
    if (p_part > 0 && q_part > 0) sum += p_part * std::log(p_part / q_part);
  }
  return sum;
}

}  // namespace

double KlThreshold(absl::Span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0 || std::isinf(largest)) return largest;
  const Histogram histogram = HistogramOf(values, largest);
  constexpr int kMiddle = kBins / 2;
  double best = largest;
  float least = std::numeric_limits<float>::infinity();
  std::vector<float> clipped, quantized;
  // `half` bins on either side of the middle one are kept.
  for (int half = kLevels / 2; half <= kMiddle; ++half) {
    const int64_t* const kept = &histogram.counts[kMiddle - half];
    const int size = 2 * half + 1;
    clipped.assign(kept, kept + size);
    clipped.front() = static_cast<float>(std::accumulate(
        histogram.counts.begin(), histogram.counts.begin() + kMiddle - half + 1,
        int64_t{0}));
    clipped.back() += static_cast<float>(
        std::accumulate(histogram.counts.begin() + kMiddle + half + 1,
                        histogram.counts.end(), int64_t{0}));
    // The first bin counts for what is clipped only, as in the reference.
    const auto count = [&](int i) { return i == 0 ? 0 : kept[i]; };
    quantized.assign(size, 0);
    const int merged = size / kLevels;
    for (int level = 0; level < kLevels; ++level) {
      const int begin = level * merged;
      const int end = level == kLevels - 1 ? size : begin + merged;
      int64_t sum = 0;
      int used = 0;
      for (int i = begin; i < end; ++i) {
        sum += count(i);
        used += count(i) != 0 ? 1 : 0;
      }
      if (used == 0) continue;
      const float share = static_cast<float>(sum) / static_cast<float>(used);
      for (int i = begin; i < end; ++i) {
        if (clipped[i] != 0) quantized[i] = share;
      }
    }
    Smooth(clipped);
    if (!Smooth(quantized)) continue;
    const float divergence = Divergence(clipped, quantized);
    if (divergence < least) {
      least = divergence;
      best = histogram.edges[kMiddle + half + 1];
    }
  }
  return best;
}

}  // namespace baton::relay
