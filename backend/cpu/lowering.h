// Lowering: the class behind LowerGraph(). Each part of it has a source of its
// own.

#ifndef BATON_BACKEND_CPU_LOWERING_H_
#define BATON_BACKEND_CPU_LOWERING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/int8_steps.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/lower.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/backend/cpu/slab_steps.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/cpu/take_step.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/byte_slabs.h"
#include "baton/runtime/kernels/blocked/channels.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int_matmul.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::cpu::internal {

// A step and the nodes of the graph that it computes.
struct LoweredStep {
  KernelChoice kernel;
  std::vector<int> nodes;
};

// The bytes of a tensor in the memory of another one.
struct Place {
  int tensor = -1;
  int64_t offset = 0;
};

// A product of two computed matrices, with the calls around it that only move
// elements: the product reads and stores the elements where the calls move
// them.
struct MovedProduct {
  ProductChoice product;
  int a = -1;
  int b = -1;
  int result = -1;
  std::vector<int> nodes;
};

// A product of integers, with the calls behind it that make floats of the sums.
struct ScaledProduct {
  kernels::blocked::IntMatmulParams params;
  int number = -1;  // of the product itself
  std::vector<int> nodes;
  int data = -1;
  int zero = -1;                 // subtracted from the data; -1 for none
  std::vector<uint32_t> offset;  // added to the sums; empty for none
  int scale = -1;
  bool has_scale_of_column = false;
  std::optional<ElementArg> bias;
  int result = -1;
};

// The type and the number of the elements of a packed weight.
struct PackedSize {
  DType dtype;
  int64_t elements;
};

// The layouts of the data and the result of a convolution of floats.
struct ConvLayout {
  enum class Kind {
    kBlocked,      // both in blocks of channels
    kPlanarInput,  // the data planar, the result in blocks
    kRows,         // a product of matrices: one position, both planar
    kProduct,      // a product with the data, a matrix for each image
  };
  Kind kind = Kind::kBlocked;
  // The candidates, with the conversions that each needs; the chosen one first.
  std::vector<executor::Candidate> candidates;
};

// Channels of a map of one image that a node moves.
struct ChannelMove {
  TensorShape map;  // of the result
  std::vector<kernels::blocked::ChannelSource> sources;
};

// A pointwise convolution of one group and of one position as a product of its
// data, which is a matrix, with its weight.
kernels::blocked::MatmulParams RowsOf(
    const kernels::blocked::ConvParams& params);
// A pointwise convolution of one group as a product of its weight with each
// image of its planar data.
ProductChoice ImageProductOf(const kernels::blocked::ConvParams& params);

// A packed weight among the tensors of a lowering.
struct PackedWeight {
  int tensor = -1;
  bool is_finite = false;
};

// The source of `step` if it copies a tensor; else nullopt.
std::optional<StepSource> CopyStepSource(const executor::Step& step);

// Makes the plan of one graph. Nodes and tensors are numbers, as in the graph;
// tensors that the lowering makes have the numbers behind those of the graph.
//
// A map is a tensor [N, C, H, W], or [N, C, W]. Its planar form is the tensor
// as the graph has it, its blocked form that of runtime/kernels/blocked
// (blocked_conv.h), its slabs, for a map of bytes, those of byte_slabs.h. Each
// form is a tensor, computed by the first step that needs it. A view has the
// memory of another tensor. A node is claimed if the step of another node
// computes it.
class Lowering {
 public:
  Lowering(Graph graph, const LowerOptions& options);

  // The plan. To be called once.
  absl::StatusOr<executor::Plan> Run();

 private:
  // A consumer that is no node: an output of the graph.
  static constexpr int kOutput = -1;
  static constexpr int kNone = -1;
  // In place of the groups of a convolution, in keys of packed weights.
  static constexpr int64_t kWindows = -2;
  static constexpr int64_t kIntegers = -3;
  // The limit of the nodes of an elementwise group, without casts.
  static constexpr size_t kMaxGroup = 32;

  const GraphTensor& TensorOf(int t) const {
    return tensors_[static_cast<size_t>(t)];
  }
  int NewTensor(GraphTensor tensor);
  int NewConstant(Tensor tensor) {
    const TensorShape shape(tensor.shape().begin(), tensor.shape().end());
    return NewTensor({tensor.dtype(), shape, std::move(tensor), -1});
  }
  // False for inputs and constants.
  bool IsComputed(int t) const {
    return !TensorOf(t).constant.has_value() && TensorOf(t).input < 0;
  }
  // The tensor of which `t` is a view.
  Place RootOf(int t) const;
  // The tensor in whose memory `t` is.
  Place StorageOf(int t) const;

  // Finds the nodes whose results are views, and the calls that move elements.
  void FindViews();

  // The rearrangements, one for each result, that the node `number` is; null if
  // the node computes something or is a reshape.
  const std::vector<Rearrangement>* MovesOf(int number) const {
    const auto found = moves_.find(number);
    return found == moves_.end() ? nullptr : &found->second;
  }

  // Adds a step, and predicts its time.
  void AddStep(KernelChoice choice, std::vector<int> nodes);

  double PredictNs(const Work& work) const;

  // Makes steps_ of all nodes, in order.
  absl::Status ChooseKernels();

  // Makes the step of a node: of a kernel, if one computes the node, else of a
  // call of the evaluator.
  absl::Status Lower(int number);

  // Adds a step on planar tensors, which computes `nodes`.
  absl::Status AddPlanarStep(KernelChoice choice, std::vector<int> nodes);

  // The step of a branch or a loop, which has plans of its own.
  absl::StatusOr<KernelChoice> LowerRegion(const GraphNode& node);

  // Makes the step of a node that a kernel computes; false if none does.
  absl::StatusOr<bool> LowerToKernel(int number);

  absl::Status LowerTake(int number, TakeChoice take);

  // Makes a step for each result of a node that moves elements; false if the
  // node does not.
  absl::StatusOr<bool> LowerMove(int number);

  // --- Layouts: lower_layouts.cc -------------------------------------------

  bool IsMap(int t) const { return !MapShape(t).empty(); }

  // [N, C, H, W] of a map of floats, with H = 1 for [N, C, W]; empty if `t` can
  // have no blocked form.
  TensorShape MapShape(int t) const;

  // If `part` is some channels of the map `whole` of one image, `offset` bytes
  // from its begin, the number of the first one; else -1.
  static int64_t FirstChannel(const TensorShape& part, const TensorShape& whole,
                              int64_t offset);
  int64_t FirstChannel(int t, const Place& root) const {
    return FirstChannel(MapShape(t), MapShape(root.tensor), root.offset);
  }

  // True if the view `t` of the planar form of `root` is a view of the blocked
  // form, too.
  bool IsBlockedView(int t, const Place& root) const;

  // True if `t`, or the map of which `t` is some channels, has a blocked form
  // and no planar form yet.
  bool IsBlockedAlone(int t) const;

  // True if the blocked form of `t` costs nothing.
  bool HasBlocked(int t) const;

  // The blocked form of `t`, which a step is going to write.
  int NewBlocked(int t);

  // The blocked form of `t`, converted if there is none.
  absl::StatusOr<int> Blocked(int t);

  // Adds the step that makes the planar form of `t`, if there is none.
  absl::Status MakePlanar(int t);

  // Channels `first` to `first + count` of the input number `input` of a step.
  static std::vector<kernels::blocked::ChannelSource> ChannelsFrom(
      size_t input, int64_t first, int64_t count);

  bool IsChannelConcatenation(const GraphNode& node) const;

  // True for a concatenation of channels of which a part is a blocked map.
  bool IsBlockedConcatenation(const GraphNode& node) const;

  absl::Status LowerBlockedConcatenation(int number);

  // The channels that the node `number` moves, if its data is a part of a map
  // of the shape `map`, of one image; nullopt if it moves anything else.
  std::optional<ChannelMove> ChannelMoveOf(int number,
                                           const TensorShape& map) const;

  // Makes the step of a node that moves whole channels of a blocked map of one
  // image, such as the transposition of a shuffle; false if the node does not.
  absl::StatusOr<bool> LowerChannelMove(int number);

  // --- Layouts of convolutions: lower_conv_layouts.cc ----------------------

  // Sets conv_layouts_: those for which the least time is predicted.
  void ChooseLayouts();
  class LayoutChooser;

  // True if a group with these operands can be computed on blocks.
  bool HaveBlockedForms(const std::vector<ElementArg>& operands,
                        const TensorShape& shape) const;

  // --- Epilogues and convolutions: lower_convs.cc --------------------------

  // The constant `arg`, which has `channels` elements, padded to a multiple of
  // 16.
  absl::StatusOr<int> ChannelConstant(const ElementArg& arg, int64_t channels);

  // True if `arg` is a constant with an element for each index of dimension
  // `axis` of `shape`.
  bool IsChannelConstant(const ElementArg& arg, const TensorShape& shape,
                         size_t axis) const;

  // Finds the elementwise operators behind the node `number` that the epilogue
  // of its kernel can compute. Sets `epilogue`, and appends the operators to
  // `nodes`. Returns the result of the last one, which the kernel then
  // computes.
  absl::StatusOr<int> TakeEpilogue(int number, size_t axis, bool is_blocked,
                                   EpilogueOperands& epilogue,
                                   std::vector<int>& nodes);

  // Returns the rounding of `t`, if its only user is a cast to half floats, and
  // the only user of that a cast back. `casts` becomes the two casts, or is
  // empty.
  kernels::blocked::Rounding RoundingOf(int t, std::vector<int>& casts) const;

  // True if the steps so far compute `t`.
  bool IsReady(int t) const {
    const int root = RootOf(t).tensor;
    return is_planar_[static_cast<size_t>(root)] ||
           blocked_of_[static_cast<size_t>(root)] >= 0;
  }

  absl::Status LowerConv(int number, kernels::blocked::ConvParams params);

  absl::Status LowerTransposedConv(int number, const TransposedConv& conv);

  // Finds the constants, with an element for each index of dimension `axis`,
  // that nodes behind the node `number` add to its integers. Sets `bias` to
  // their sum, which wraps, and appends the nodes to `nodes`. Returns the
  // result of the last node, which the kernel then computes.
  int FindIntegerBias(int number, size_t axis, std::vector<uint32_t>& bias,
                      std::vector<int>& nodes) const;

  // --- Convolutions of bytes: lower_byte_convs.cc --------------------------

  bool IsInt8Conv(int number) const {
    return number != kOutput &&
           Int8ConvParamsOf(graph_.nodes[static_cast<size_t>(number)], graph_)
               .has_value();
  }

  // Claims the nodes nn.pad whose results only convolutions of bytes read that
  // can pad themselves.
  void FindPaddings();

  // The parameters of the convolution `number` if it pads as `pad` does;
  // nullopt if it cannot.
  std::optional<kernels::blocked::Int8ConvParams> PaddedConv(
      const GraphNode& pad, int number) const;

  // The one element of a tensor of integers.
  static std::optional<int64_t> IntegerOf(const Tensor& tensor);

  // The values of `arg` for the channels of a result of `shape`, and behind
  // them values that nothing uses; nullopt if `arg` is no such constant.
  std::optional<std::vector<float>> ChannelValues(
      const ElementArg& arg, const TensorShape& shape) const;

  // Finds the operators that make bytes of the sums `result`, and appends them
  // to `nodes`. Sets `result` to the tensor of bytes. Nullopt if there are
  // none.
  std::optional<Int8Scales> TakeScales(int& result, std::vector<int>& nodes);

  // Replaces the bounds `least` and `most` of the sums before the division by
  // bounds of the bytes, since all operators between are monotonic. False if
  // bounds would differ by channel, or if there may be NaN.
  static bool MoveBounds(float least, float most, Int8Scales& scales);

  static bool CanHaveSlabs(const kernels::blocked::Int8ConvParams& params) {
    return params.groups == 1 ||
           (params.in_channels == 1 && params.out_channels == 1);
  }

  // True if a step that reads slabs reads `t`, a map of bytes, directly or
  // through up to `depth` nodes. In sources of libraries only convolutions read
  // slabs, and nothing else may read `t`.
  bool WantsSlabs(int t, int depth = kMostDepth) const;
  // True if the node `user` reads the slabs of `t`.
  bool ReadsSlabs(int user, int t, int depth) const;
  static constexpr int kMostDepth = 3;

  kernels::blocked::ByteMap ByteMapOf(int t) const;

  // The slabs of `t`, which a step is going to write.
  int NewSlabs(int t);

  // The slabs of `t`, computed from the planar map if there are none.
  absl::StatusOr<int> Slabs(int t);

  std::optional<PoolChoice> SlabPoolOf(const GraphNode& node) const;

  // True for a concatenation of channels of maps of bytes, of one image.
  bool IsByteConcatenation(const GraphNode& node) const;

  // True for a concatenation of maps of bytes, of which one has slabs, whose
  // result a step reads in slabs.
  bool IsSlabConcatenation(const GraphNode& node) const;

  absl::Status LowerSlabConcatenation(int number);

  // Makes the step of the node `number` if it is a maximum pool of slabs; false
  // if not.
  bool LowerSlabPool(int number);

  // Makes the step of a sum of maps of bytes; in slabs if a map has them.
  absl::Status LowerByteSum(const ByteSum& sum, int result,
                            std::vector<int> nodes);

  // A new constant with these elements.
  absl::StatusOr<int> IntegerConstant(const std::vector<uint32_t>& values);

  absl::Status LowerInt8Conv(int number);

  // --- Products of matrices, packed weights: lower_matmuls.cc --------------

  // The node that computes each tensor of the graph, or kNone.
  std::vector<int> Producers() const;

  // True if the one result of `node` is all of its first input, reshaped.
  bool IsReshape(int node) const;

  // The rearrangement that `node` is; null if it is none, or is claimed.
  const Rearrangement* MoveOf(int node) const;

  // If a node that moves elements makes operand `operand` of a product, and no
  // other node reads the result of the move, lets the product read the argument
  // of the move.
  void TakeOperandMove(const std::vector<int>& producers, int operand,
                       MovedProduct& moved);

  // If a node that moves elements is all that reads the result of a product,
  // lets the product store its result as that node does.
  void TakeResultMove(MovedProduct& moved);

  // Finds products of computed matrices, and claims the moves around them.
  void FindMovedProducts();

  // If the data of a product are bytes minus a number, lets the product read
  // the bytes. The node of the differences is claimed if no other node reads
  // them.
  void TakeZeroPoint(const std::vector<int>& producers, ScaledProduct& product);

  // Finds products whose sums are cast to float32 and multiplied by a scale,
  // and the biases behind. The step of such a product has the place of its last
  // node, where the scale is computed.
  void FindScaledProducts();

  absl::Status LowerIntMatmul(const ScaledProduct& product);

  // The constant `t`, for a step that packs it. The last such step receives the
  // only reference that the lowering has.
  Tensor TakeWeight(int t);

  // True if the elements are in LowerOptions::mapped_file.
  bool IsMapped(const Tensor& tensor) const;

  // The weight `t` as `pack` makes it, or as another lowering or the file of
  // the executable already has it. `groups` and `alternate` are those of
  // packed_.
  absl::StatusOr<PackedConstants::Entry> Packed(
      int t, int64_t groups, bool alternate, const PackedSize& size,
      absl::FunctionRef<absl::StatusOr<PackedConstants::Entry>(Tensor)> pack);

  absl::Status LowerMatmul(int number, kernels::blocked::MatmulParams params);

  // As above, for a weight that is transposed or not, and a result whose
  // columns are along `axis`.
  absl::Status LowerMatmul(int number, kernels::blocked::MatmulParams params,
                           bool transposed, size_t axis,
                           std::vector<executor::Candidate> candidates);

  // --- Elementwise groups: lower_groups.cc ---------------------------------

  // Joins each elementwise node with the group that reads its result, if there
  // is one such group and no other reader. A group has the number of its last
  // node.
  void FindGroups();

  // Makes the step of the group whose last node is `last`, without the nodes
  // that epilogues compute; false if no kernel computes the group.
  absl::StatusOr<bool> LowerGroup(int last);

  // True if `arg` has a blocked form that broadcasts: a map of the shape of the
  // result, or elements for each channel or for each position.
  bool HasBlockedForm(const ElementArg& arg, const TensorShape& shape) const {
    if (arg.shape == shape) return IsMap(arg.tensor);
    return IsForChannels(arg, shape) || IsForPositions(arg, shape.size());
  }

  // True if all channels have the same elements of `arg`.
  static bool IsForPositions(const ElementArg& arg, size_t rank) {
    const TensorShape& s = arg.shape;
    return s.size() + 2 <= rank ||
           (s.size() + 1 >= rank && s[s.size() + 1 - rank] == 1);
  }

  // True if `arg` has an element for each channel of a result, or of an image
  // and channel.
  static bool IsForChannels(const ElementArg& arg, const TensorShape& shape);

  // True if a group is computed on blocked maps: an operand has this form
  // alone, and the others can have it.
  bool WantsBlocked(const std::vector<ElementArg>& operands,
                    const TensorShape& shape) const;

  // The step of a group that an epilogue on one of its maps computes; nullopt
  // if none does.
  absl::StatusOr<std::optional<KernelChoice>> LowerToApply(
      const std::vector<ElementArg>& operands,
      const std::vector<GroupCall>& calls, const TensorShape& shape,
      int result);

  // The blocked form of an operand of a result of the given shape.
  absl::StatusOr<ElementArg> BlockedArg(const ElementArg& arg,
                                        const TensorShape& shape);

  // --- Steps of the plan and their memory: lower_to_plan.cc ----------------

  // Joins steps that compute the same rows.
  void JoinSteps();

  // Adds a step that copies a tensor.
  void AddCopy(int from, int to, std::vector<int> nodes, std::string reason);

  // Puts results into the memory of the outputs where that is possible. Adds
  // copies of the others: a constant, an input, a part of a tensor, and the
  // second of two outputs that are one tensor.
  void PlaceOutputs();

  // Puts operands of a concatenation along the first axis into their places in
  // the result.
  void PlaceParts();

  // The value of the plan that is the memory of tensor `storage`.
  int32_t ValueOf(int storage);

  executor::Operand OperandOf(int t) {
    const Place place = StorageOf(t);
    return {ValueOf(place.tensor), place.offset, TensorOf(t).bytes()};
  }

  // Makes the steps of the plan of steps_.
  void MakeSteps();

  // The tensor of the graph that tensor `t` is or has the elements of.
  executor::NotedTensor NotedOf(int t) const;

  void BeginStep(const KernelChoice& kernel, const std::vector<int>& nodes);
  void AddInput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_inputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }
  void AddOutput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_outputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }

  // Lets results of steps have the memory of inputs that no later step reads.
  void ReuseInputs();

  Graph graph_;
  const LowerOptions options_;
  const KernelCosts& costs_;
  const kernels::blocked::Width costs_width_;
  const kernels::blocked::Kernels& blocked_kernels_;
  const kernels::blocked::Int8Isa isa_;
  executor::Plan plan_;
  // The tensors of the graph come first, then packed weights and blocked forms.
  std::vector<GraphTensor> tensors_;
  FlatHashMap<int, std::vector<Rearrangement>> moves_;  // of nodes
  std::vector<bool> is_view_;                           // of nodes
  std::vector<Place> views_;     // of tensors: those of which they are views
  std::vector<Place> inside_;    // of tensors: the results that contain them
  std::vector<int> output_of_;   // of tensors: the output that they are
  std::vector<int> blocked_of_;  // of tensors: their blocked forms
  std::vector<bool> is_planar_;  // of tensors: a step so far computes them
  // Tensors of which a step reads elements, which must be aligned.
  std::vector<bool> needs_aligned_;
  // By the tensor, the groups of a convolution (-1 for a product, else kWindows
  // or kIntegers), and whether the input is planar or the weight transposed.
  std::map<std::tuple<int, int64_t, bool>, PackedWeight> packed_;
  // The shapes of tensors that are no maps, but have views that are.
  FlatHashMap<int, TensorShape> map_shapes_;
  std::vector<std::vector<int>> consumers_;  // of tensors
  // The number of consumers of each tensor that have no packed form of it.
  std::vector<size_t> num_unpacked_;
  // Has the weights of all regions, also those of one region only. They are in
  // `graph_` as well, so none could be packed in place, or freed before the
  // lowering ends.
  SharedWeights weights_of_regions_;
  std::vector<bool> is_claimed_;  // of nodes: another step computes them
  // The calls of nn.pad that convolutions of bytes compute, by convolution.
  FlatHashMap<int, int> padding_of_;
  FlatHashMap<int, ConvLayout> conv_layouts_;        // by their nodes
  FlatHashMap<int, ScaledProduct> scaled_products_;  // by their last nodes
  FlatHashMap<int, MovedProduct> products_;          // by their nodes
  // The slabs of maps of bytes.
  FlatHashMap<int, int> slabs_of_;
  std::vector<int> group_of_;  // of nodes
  std::map<int, std::vector<int>> groups_;
  std::vector<LoweredStep> steps_;
  FlatHashMap<size_t, Place> part_of_;  // of steps: what they write
  // Tensors, and the outputs that are copies of them.
  std::vector<std::pair<int, int>> copied_outputs_;
  FlatHashMap<int, int32_t> value_of_;  // of tensors: values of the plan
  FlatHashMap<int, int> planar_of_;     // of blocked forms: the maps
};

}  // namespace baton::cpu::internal

#endif  // BATON_BACKEND_CPU_LOWERING_H_
