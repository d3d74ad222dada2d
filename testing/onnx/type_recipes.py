"""Nodes of ONNX's operators: inputs and attributes, without element types.

RECIPES maps an operator to a list of (inputs, number of outputs, attributes). An
input is None if it is absent, or (shape, values): "n" are small numbers of both
signs, "p" positive ones, "u" between -1 and 1, "g" from 1 on, "b" of both truth
values, "0..3" integers in a range, "=1,2" these.
"""

RECIPES = {}
S = (2, 3)


def add(ops, inputs, outputs=1, **attributes):
  for op in ops.split():
    RECIPES.setdefault(op, []).append((inputs, outputs, attributes))


# --- Elementwise --------------------------------------------------------------

add(
    "Abs Neg Ceil Floor Round Sign Relu Identity Exp Sigmoid Tanh Softplus"
    " Softsign Elu Selu Celu HardSigmoid HardSwish Mish Gelu LeakyRelu Swish"
    " ThresholdedRelu Erf Sin Cos Tan Sinh Cosh Asinh Atan Softmax LogSoftmax"
    " Hardmax Shrink IsNaN IsInf Not BitwiseNot NonZero Size Shape Flatten"
    " BitCast Trilu EyeLike Dropout", [(S, "n")])
add("Cast", [(S, "0..1")])
add("Gelu", [(S, "n")], approximate="tanh")
add("Celu", [(S, "n")], alpha=2.0)
add("Acos Asin Atanh", [(S, "u")])
add("Acosh", [(S, "g")])
add("Log Sqrt Reciprocal", [(S, "p")])
add(
    "Add Sub Mul Max Min Sum Mean Equal Greater GreaterOrEqual Less LessOrEqual"
    " And Or Xor BitwiseAnd BitwiseOr BitwiseXor SwiGLU", [(S, "n"), (S, "n")])
add("Add Sub Mul Max Min Equal Less", [(S, "n"), ((3,), "n")])
add("Div", [(S, "n"), (S, "p")])
add("Mod", [(S, "n"), (S, "p")], fmod=1)
add("Mod", [(S, "n"), (S, "p")])
add("Pow", [(S, "p"), (S, "0..3")])
add("BitShift", [(S, "p"), (S, "0..3")], direction="LEFT")
add("BitShift", [(S, "p"), (S, "0..3")], direction="RIGHT")
add("PRelu", [((2, 3, 2), "n"), ((3, 1), "p")])
add("PRelu", [(S, "n"), ((1,), "p")])
add("Clip", [(S, "n"), ((), "=0"), ((), "=2")])
add("Clip", [(S, "n"), None, ((), "=1")])
add("Where", [(S, "b"), (S, "n"), ((3,), "n")])
add("CastLike", [(S, "0..1"), ((1,), "p")])

# --- Reductions ---------------------------------------------------------------

add("ArgMax ArgMin", [(S, "n")], axis=1)
add("ArgMax ArgMin", [((2, 4), "n")], axis=0, keepdims=0, select_last_index=1)
add(
    "ReduceL1 ReduceL2 ReduceLogSum ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare ReduceLogSumExp",
    [((2, 3, 2), "p"), ((1,), "=1")], keepdims=0)
add("ReduceMax ReduceMean ReduceMin ReduceSum", [((2, 3, 2), "n")])
add("CumSum CumProd", [(S, "n"), ((), "=1")])
add("CumSum CumProd", [(S, "n"), ((), "=0")], exclusive=1, reverse=1)
add("TopK", [((2, 4), "n"), ((1,), "=2")], 2)
add("TopK", [((2, 4), "n"), ((1,), "=1")], 2, largest=0, axis=0)
add("Unique", [((6,), "n")], 4)

# --- Products and windows -----------------------------------------------------

add("MatMul", [((2, 3), "n"), ((3, 2), "n")])
add("MatMul", [((2, 2, 3), "n"), ((3,), "n")])
add("Gemm", [((2, 3), "n"), ((3, 2), "n"), ((2,), "n")])
add("Gemm", [((3, 2), "n"), ((2, 3), "n")], transA=1, transB=1, alpha=2.0)
add("Einsum", [((2, 3), "n"), ((3, 2), "n")], equation="ij,jk->ik")
add("Einsum", [((2, 2), "n")], equation="ii->i")
add("Conv", [((1, 2, 4, 4), "n"), ((3, 2, 3, 3), "n"), ((3,), "n")],
    pads=[1, 1, 1, 1])
add("ConvTranspose", [((1, 2, 3, 3), "n"), ((2, 2, 2, 2), "n"), ((2,), "n")],
    strides=[2, 2])
add("ConvInteger", [((1, 2, 4, 4), "n"), ((3, 2, 3, 3), "n"), ((), "=1"),
                    ((), "=1")])
add("MatMulInteger", [((2, 3), "n"), ((3, 2), "n"), ((), "=1"), ((), "=1")])
add("MatMulInteger", [((2, 3), "n"), ((3, 2), "n"), ((), "=1"), ((2,), "=1,2")])
add("DeformConv", [((1, 1, 3, 3), "n"), ((1, 1, 2, 2), "n"), ((1, 8, 2, 2), "u"),
                   ((1,), "n"), ((1, 4, 2, 2), "p")], kernel_shape=[2, 2],
    pads=[0, 0, 0, 0])
add("AveragePool MaxPool LpPool", [((1, 2, 4, 4), "n")], kernel_shape=[2, 2])
add("MaxPool", [((1, 2, 4, 4), "n")], 2, kernel_shape=[2, 2], strides=[2, 2])
add("GlobalAveragePool GlobalMaxPool GlobalLpPool", [((1, 2, 3, 3), "n")])
add("MaxUnpool", [((1, 1, 2, 2), "n"), ((1, 1, 2, 2), "=0,3,9,15")],
    kernel_shape=[2, 2], strides=[2, 2])
add("MaxRoiPool", [((1, 1, 4, 4), "n"), ((1, 5), "=0,0,0,2,2")],
    pooled_shape=[2, 2])
add("RoiAlign", [((1, 1, 4, 4), "n"), ((1, 4), "=0,0,2,2"), ((1,), "=0")],
    output_height=2, output_width=2)
add("Det", [((2, 2, 2), "n")])
add("CausalConvWithState", [((1, 2, 5), "n"), ((2, 1, 3), "n")], 2)

# --- Normalization and layers -------------------------------------------------

add("LRN", [((1, 4, 2, 2), "n")], size=3)
add("LpNormalization", [(S, "n")], p=1)
add("MeanVarianceNormalization", [((2, 3, 2, 2), "n")])
add("BatchNormalization", [((2, 3, 2), "n"), ((3,), "n"), ((3,), "n"),
                           ((3,), "n"), ((3,), "p")])
add("InstanceNormalization", [((2, 3, 4), "n"), ((3,), "n"), ((3,), "n")])
add("LayerNormalization", [(S, "n"), ((3,), "n"), ((3,), "n")])
add("GroupNormalization", [((2, 4, 3), "n"), ((4,), "n"), ((4,), "n")],
    num_groups=2)
add("RMSNormalization", [(S, "n"), ((3,), "n")])
add("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    [(S, "n"), ((2,), "=0,2"), ((3,), "p")])
add("RNN", [((2, 1, 2), "n"), ((1, 2, 2), "n"), ((1, 2, 2), "n"), ((1, 4), "n"),
            ((1,), "=2")], 2, hidden_size=2)
add("GRU", [((2, 1, 2), "n"), ((1, 6, 2), "n"), ((1, 6, 2), "n"),
            ((1, 12), "n"), ((1,), "=2")], 2, hidden_size=2)
add("LSTM", [((2, 1, 2), "n"), ((1, 8, 2), "n"), ((1, 8, 2), "n"),
             ((1, 16), "n"), ((1,), "=2")], 2, hidden_size=2)
add("RotaryEmbedding", [((1, 2, 3, 4), "n"), ((5, 2), "u"), ((5, 2), "u"),
                        ((1, 3), "=0,2,4")])
add("Attention", [((1, 2, 3, 4), "n"), ((1, 2, 3, 4), "n"), ((1, 2, 3, 4), "n"),
                  ((3, 3), "u")])
add("LinearAttention", [((1, 2, 4), "n"), ((1, 2, 4), "n"), ((1, 2, 4), "n"),
                        ((1, 2, 2, 2), "n")], 2, q_num_heads=2, kv_num_heads=2,
    update_rule="linear")

# --- Shapes and indices -------------------------------------------------------

add("Concat", [(S, "n"), ((1, 3), "n")], axis=0)
add("Reshape", [(S, "n"), ((2,), "=3,-1")])
add("Transpose", [(S, "n")], perm=[1, 0])
add("Squeeze", [((2, 1, 3), "n"), ((1,), "=1")])
add("Unsqueeze", [(S, "n"), ((1,), "=1")])
add("Expand", [((3,), "n"), ((2,), "=2,3")])
add("Tile", [(S, "n"), ((2,), "=2,1")])
add("Slice", [((4, 5), "n"), ((2,), "=0,1"), ((2,), "=3,5"), ((2,), "=0,1"),
              ((2,), "=1,2")])
add("Split", [((4, 2), "n"), ((2,), "=1,3")], 2)
add("Gather", [((3, 2), "n"), ((2,), "=2,-1")])
add("GatherElements", [((3, 2), "n"), ((2, 2), "=0,1,-1,2")], axis=0)
add("GatherND", [(S, "n"), ((2, 2), "=0,1,1,-1")])
add("ScatterElements", [((3, 2), "n"), ((1, 2), "=2,-1"), ((1, 2), "n")])
add("ScatterElements", [((3, 2), "n"), ((1, 2), "=2,-1"), ((1, 2), "p")],
    reduction="add")
add("ScatterElements", [((3, 2), "n"), ((1, 2), "=2,-1"), ((1, 2), "p")],
    reduction="max")
add("ScatterND", [((3, 2), "n"), ((1, 1), "=2"), ((1, 2), "n")])
add("ScatterND", [((3, 2), "n"), ((2, 1), "=2,2"), ((2, 2), "p")],
    reduction="mul")
add("Pad", [(S, "n"), ((4,), "=1,0,0,2")])
add("Pad", [(S, "n"), ((2,), "=1,1"), ((), "=1"), ((1,), "=-1")])
add("Pad", [(S, "n"), ((4,), "=1,0,0,2")], mode="edge")
add("DepthToSpace", [((1, 4, 2, 2), "n")], blocksize=2)
add("SpaceToDepth", [((1, 1, 4, 4), "n")], blocksize=2)
add("Compress", [((3, 2), "n"), ((3,), "=1,0,1")], axis=0)
add("OneHot", [((2,), "=1,0"), ((), "=3"), ((2,), "=0,1")])
add("Range", [((), "=1"), ((), "=7"), ((), "=2")])
add("ConstantOfShape", [((2,), "=2,3")])
add("ReverseSequence", [((3, 2), "n"), ((2,), "=2,3")], time_axis=0,
    batch_axis=1)
add("CenterCropPad", [((3, 4), "n"), ((2,), "=2,5")])
add("Col2Im", [((1, 4, 4), "n"), ((2,), "=3,3"), ((2,), "=2,2")])
add("TensorScatter", [((1, 4, 2), "n"), ((1, 1, 2), "n"), ((1,), "=2")])
add("TfIdfVectorizer", [((5,), "=1,2,1,3,2")], mode="TF", min_gram_length=1,
    max_gram_length=1, max_skip_count=0, ngram_counts=[0],
    ngram_indexes=[0, 1, 2], pool_int64s=[1, 2, 3])
add("NonMaxSuppression", [((1, 3, 4), "=0,0,1,1,0,0,1,1.125,2,2,3,3"),
                          ((1, 1, 3), "=0.9,0.75,0.6"), ((1,), "=2"),
                          ((1,), "=0.5"), ((1,), "=0")])

# --- Images and signals -------------------------------------------------------

add("Resize", [((1, 1, 2, 2), "n"), None, ((4,), "=1,1,2,2")])
add("Resize", [((1, 1, 3, 3), "n"), None, None, ((4,), "=1,1,4,5")],
    mode="linear")
add("Resize", [((1, 1, 3, 3), "n"), ((8,), "=0,0,0,0,1,1,1,1"), None,
               ((4,), "=1,1,4,5")], mode="linear",
    coordinate_transformation_mode="tf_crop_and_resize")
add("GridSample", [((1, 1, 3, 3), "n"), ((1, 2, 2, 2), "u")], mode="nearest")
add("GridSample", [((1, 1, 3, 3), "n"), ((1, 2, 2, 2), "u")])
add("AffineGrid", [((1, 2, 3), "u"), ((4,), "=1,1,2,3")])
add("HannWindow HammingWindow BlackmanWindow", [((), "=5")])
add("MelWeightMatrix", [((), "=4"), ((), "=16"), ((), "=100"), ((), "=0"),
                        ((), "=48")])
add("DFT", [((1, 4, 1), "n"), ((), "=4"), ((), "=1")])
add("STFT", [((1, 8, 1), "n"), ((), "=2"), ((4,), "p"), ((), "=4")], onesided=1)

# --- Quantization -------------------------------------------------------------

add("QuantizeLinear", [(S, "n"), ((), "=0.5"), ((), "=1")])
add("QuantizeLinear", [(S, "n"), ((3,), "=0.5,1,2"), ((3,), "=1,0,1")])
add("DequantizeLinear", [(S, "n"), ((), "=0.5"), ((), "=1")])
add("DequantizeLinear", [((2, 4), "n"), ((2, 2), "=0.5,1,2,3"),
                         ((2, 2), "=1,1,0,0")], axis=1, block_size=2)
add("DynamicQuantizeLinear", [(S, "n")], 3)
add("QLinearConv", [((1, 2, 3, 3), "n"), ((), "=0.5"), ((), "=1"),
                    ((2, 2, 2, 2), "n"), ((), "=0.5"), ((), "=0"), ((), "=0.75"),
                    ((), "=1"), ((2,), "n")])
add("QLinearMatMul", [((2, 3), "n"), ((), "=0.5"), ((), "=1"), ((3, 2), "n"),
                      ((), "=0.5"), ((), "=0"), ((), "=0.75"), ((), "=1")])

# --- Random numbers -----------------------------------------------------------

add("Bernoulli", [(S, "p")], seed=1.0)
add("RandomNormalLike RandomUniformLike", [(S, "n")], seed=1.0)
add("RandomNormal RandomUniform", [], seed=1.0, shape=[2, 3])
add("Multinomial", [((1, 3), "n")], seed=1.0, sample_size=4)
