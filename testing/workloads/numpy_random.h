// NumPy's legacy random generator (`numpy.random.RandomState`), bit-exact: TVM
// draws the weights of its workloads from it.
//
// MT19937 (Matsumoto and Nishimura, 1998), seeded by its init_genrand; a double
// takes 53 bits from two draws.

#ifndef BATON_TESTING_WORKLOADS_NUMPY_RANDOM_H_
#define BATON_TESTING_WORKLOADS_NUMPY_RANDOM_H_

#include <array>
#include <cstdint>

namespace baton::testing {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed);

  uint32_t NextUint32();
  // Uniform in [0, 1).
  double NextDouble();
  // Uniform in [low, high), as `RandomState.uniform`.
  double Uniform(double low, double high) {
    return low + (high - low) * NextDouble();
  }

 private:
  static constexpr int kSize = 624;
  void Refill();

  std::array<uint32_t, kSize> state_;
  int next_ = kSize;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_NUMPY_RANDOM_H_
