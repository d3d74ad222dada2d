// DenseToSparse, Conv2dToSparse, Conv2dToSparse2: convert layers to sparse
// weights in the BSR format (values of blocks, column of each block, first
// block of each row of blocks).
//
//   nn.dense(%x, %w)  =>  nn.sparse_dense(%x, %w.data, %w.indices, %w.indptr)
//
// The first two passes take the weights as new parameters, whose shapes are in
// the options. The code that binds parameters must bind them to the parts of
// the sparse matrix. The third pass converts weights that are constants.
//
// A sparse convolution has no strides, no dilation and no groups, and pads so
// that the result has the extent of the data. Other convolutions stay
// unchanged, as do layers that are not float32.

#ifndef BATON_RELAY_TRANSFORM_CONVERT_TO_SPARSE_H_
#define BATON_RELAY_TRANSFORM_CONVERT_TO_SPARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

struct DenseToSparseOptions {
  std::vector<std::string> weight_name;
  std::vector<std::vector<int64_t>> weight_shape;

  template <typename V>
  static void VisitFields(V& v) {
    v("weight_name", &DenseToSparseOptions::weight_name,
      "Parameters that are weights of nn.dense.");
    v("weight_shape", &DenseToSparseOptions::weight_shape,
      "For each: blocks, their height and width, column indices, row "
      "pointers.");
  }
};

struct Conv2dToSparseOptions {
  std::vector<std::string> weight_name;
  std::vector<std::vector<int64_t>> weight_shape;
  std::string layout = "NHWC";
  int kernel_size = 1;

  template <typename V>
  static void VisitFields(V& v) {
    v("weight_name", &Conv2dToSparseOptions::weight_name,
      "Parameters that are weights of nn.conv2d.");
    v("weight_shape", &Conv2dToSparseOptions::weight_shape,
      "For each: blocks, their height and width (or the height alone, if the "
      "width is 1), column indices, row pointers.");
    v("layout", &Conv2dToSparseOptions::layout,
      "Layout of the data: NHWC, with weights HWIO, or NCHW, with OIHW.");
    v("kernel_size", &Conv2dToSparseOptions::kernel_size,
      "Height and width of the kernels, an odd number.");
  }
};

struct Conv2dToSparse2Options {
  std::string layout = "NHWC";
  int kernel_size = 3;
  std::vector<int64_t> blocksize = {16, 1};
  double sparsity_threshold = 0.5;

  template <typename V>
  static void VisitFields(V& v) {
    v("layout", &Conv2dToSparse2Options::layout,
      "Layout of the data: NHWC, with weights HWIO, or NCHW, with OIHW.");
    v("kernel_size", &Conv2dToSparse2Options::kernel_size,
      "Height and width of the kernels, an odd number.");
    v("blocksize", &Conv2dToSparse2Options::blocksize,
      "Height (output channels) and width of a block.");
    v("sparsity_threshold", &Conv2dToSparse2Options::sparsity_threshold,
      "The least part of a weight that must be in blocks of zeros.");
  }
};

// Function passes of level 4, 4 and 5. Inconsistent options are errors. In a
// function that changes, the first two passes drop unused parameters, put the
// others in order of first use, and append the new ones.
Pass DenseToSparse(DenseToSparseOptions options = {});
Pass Conv2dToSparse(Conv2dToSparseOptions options = {});
Pass Conv2dToSparse2(Conv2dToSparse2Options options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CONVERT_TO_SPARSE_H_
