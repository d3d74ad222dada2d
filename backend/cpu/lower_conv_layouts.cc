// Chooses the layouts of the data and the result of each convolution of floats
// so that the predicted time of all of them, with the moves between layouts, is
// the least: as a minimum cut. Planar is the source's side of the cut.
//
// A vertex of the cut is what a node reads or computes. A tensor is computed in
// one form, by its producer, and each user reads one form; where these differ, a
// step converts the tensor, once for all users.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/min_cut.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/take_step.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::cpu::internal {
namespace {

constexpr int kPlanar = MinCut::kSource;
constexpr int kBlocked = MinCut::kSink;

// Picoseconds, so that equal costs are equal and sums have one order.
int64_t CostOf(double ns) {
  return std::min(static_cast<int64_t>(ns * 1000), MinCut::kNever / 4);
}

// A convolution among those for which there is a choice.
struct Candidates {
  int node = -1;
  int data = -1;   // the root of its data
  int reads = -1;  // vertices
  int computes = -1;
  // The times of its kernels by the forms of data and result; negative for
  // none.
  double blocked = -1;
  double planar_input = -1;
  double planar = -1;
  ConvLayout::Kind planar_kind = ConvLayout::Kind::kProduct;
};

// The users of a tensor and the vertex of its producer.
struct Forms {
  int producer = kPlanar;
  std::vector<int> users;
};

void SortAndUnique(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

bool IsUnit(const kernels::blocked::Axis& axis) {
  return axis.in == 1 && axis.kernel == 1 && axis.out == 1;
}
bool IsPointwise(const kernels::blocked::Axis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.pad_before == 0 &&
         axis.in == axis.out;
}

}  // namespace

kernels::blocked::MatmulParams RowsOf(
    const kernels::blocked::ConvParams& params) {
  kernels::blocked::MatmulParams rows;
  rows.m = params.batch;
  rows.n = params.out_channels;
  rows.k = params.in_channels;
  return rows;
}

ProductChoice ImageProductOf(const kernels::blocked::ConvParams& params) {
  const int64_t plane = params.h.in * params.w.in;
  ProductChoice product;
  product.params.m = params.out_channels;
  product.params.n = plane;
  product.params.k = params.in_channels;
  product.batch = params.batch;
  product.b = {.group = params.batch, .step = params.in_channels * plane};
  product.y = {.group = params.batch, .step = params.out_channels * plane};
  return product;
}

double Lowering::PredictNs(const Work& work) const {
  return costs_.PredictNs(work, costs_width_);
}

class Lowering::LayoutChooser {
 public:
  explicit LayoutChooser(Lowering& lowering)
      : lowering_(lowering),
        graph_(lowering.graph_),
        forms_(lowering.graph_.tensors.size()) {}

  // Sets conv_layouts_.
  void Run() {
    FindConvolutions();
    if (convs_.empty()) return;
    size_t next = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (lowering_.is_view_[i]) continue;
      if (next < convs_.size() && convs_[next].node == static_cast<int>(i)) {
        AddConvolution(convs_[next++]);
      } else if (lowering_.group_of_[i] == kNone) {
        AddNode(static_cast<int>(i));
      } else if (lowering_.group_of_[i] == static_cast<int>(i)) {
        // The last node of a group is all of it.
        AddGroup(static_cast<int>(i));
      }
    }
    for (const int t : graph_.outputs) AddUser(t, kPlanar);
    for (size_t t = 0; t < forms_.size(); ++t) {
      AddConversions(static_cast<int>(t));
    }
    is_solved_ = cut_.Solve();
    computed_.resize(cut_.num_vertices());
    for (size_t t = 0; t < forms_.size(); ++t) {
      computed_[static_cast<size_t>(forms_[t].producer)].push_back(
          static_cast<int>(t));
    }
    for (const Candidates& conv : convs_) Choose(conv);
  }

 private:
  // --- The graph of the cut --------------------------------------------------

  void FindConvolutions() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (lowering_.is_view_[i] || lowering_.is_claimed_[i]) continue;
      const auto params = ConvParamsOf(node, graph_);
      if (!params.has_value()) continue;
      Candidates conv;
      conv.node = static_cast<int>(i);
      kernels::blocked::ConvParams p = *params;
      conv.blocked = lowering_.PredictNs(WorkOfConv(p));
      if (p.groups == 1) {
        p.planar_input = true;
        conv.planar_input = lowering_.PredictNs(WorkOfConv(p));
        if (IsUnit(p.h) && IsUnit(p.w)) {
          conv.planar_kind = ConvLayout::Kind::kRows;
          conv.planar = lowering_.PredictNs(WorkOfMatmul(RowsOf(p)));
        } else if (IsPointwise(p.h) && IsPointwise(p.w) &&
                   p.out_channels >= kFewRows) {
          conv.planar = lowering_.PredictNs(WorkOfProduct(ImageProductOf(p))) +
                        SeparateEpilogueNs(node.outputs[0]);
        }
      }
      convs_.push_back(conv);
    }
  }

  void AddConvolution(Candidates& conv) {
    const GraphNode& node = NodeOf(conv.node);
    conv.reads = cut_.AddVertex();
    conv.computes = cut_.AddVertex();
    const int data = node.inputs[0];
    if (IsMap(data)) {
      conv.data = lowering_.RootOf(data).tensor;
    } else {
      // A view of a tensor that is no map is converted by itself.
      conv.data = data;
      AddUser(data, kPlanar);
    }
    if (!IsConstant(data)) {
      forms_[static_cast<size_t>(conv.data)].users.push_back(conv.reads);
    }
    SetProducer(node, conv.computes);
    cut_.AddCost(conv.computes, conv.reads, MinCut::kNever);
    cut_.AddCost(kPlanar, conv.reads, CostOf(conv.blocked));
    cut_.AddCost(
        conv.reads, conv.computes,
        conv.planar_input < 0 ? MinCut::kNever : CostOf(conv.planar_input));
    cut_.AddCost(conv.computes, kBlocked,
                 conv.planar < 0 ? MinCut::kNever : CostOf(conv.planar));
  }

  // Elementwise calls that are one step.
  void AddGroup(int last) {
    const std::vector<ElementArg> operands = OperandsOfGroup(last);
    if (!MayBeBlocked(last)) {
      for (const ElementArg& arg : operands) AddUser(arg.tensor, kPlanar);
      return;
    }
    const GraphNode& node = NodeOf(last);
    const TensorShape& shape = lowering_.TensorOf(node.outputs[0]).shape;
    std::vector<int> maps;
    for (const ElementArg& arg : operands) {
      if (arg.shape == shape && IsMap(arg.tensor) && !IsConstant(arg.tensor)) {
        maps.push_back(FormsOf(arg.tensor).producer);
      }
    }
    SortAndUnique(maps);
    int vertex = kPlanar;
    if (!maps.empty() && lowering_.HaveBlockedForms(operands, shape)) {
      // The step has the form of any operand that is blocked.
      vertex = maps.size() == 1 ? maps[0] : AddVertexOfAny(maps);
    }
    const bool keeps_form = maps.size() == 1 && vertex == maps[0];
    for (const ElementArg& arg : operands) {
      const bool is_map = IsMap(arg.tensor);
      if (keeps_form && arg.shape == shape && is_map) continue;
      AddUser(arg.tensor, is_map ? vertex : kPlanar);
    }
    SetProducer(node, vertex);
  }

  void AddNode(int number) {
    const GraphNode& node = NodeOf(number);
    int vertex = kPlanar;
    if (MayBeBlocked(number)) {
      if (PoolOf(node, graph_).has_value() ||
          LrnParamsOf(node, graph_).has_value() ||
          TransposedConvOf(node, graph_).has_value()) {
        vertex = kBlocked;
      } else if (lowering_.IsChannelConcatenation(node) &&
                 IsMap(node.outputs[0]) &&
                 std::all_of(node.inputs.begin(), node.inputs.end(),
                             [this](int part) { return IsMap(part); })) {
        std::vector<int> parts;
        for (const int part : node.inputs) {
          parts.push_back(FormsOf(part).producer);
        }
        vertex = AddVertexOfAny(parts);
      } else if (const std::optional<int> kept = VertexThatIsKept(number);
                 kept.has_value()) {
        SetProducer(node, *kept);
        return;
      }
    }
    for (const int input : node.inputs) {
      AddUser(input, IsMap(input) ? vertex : kPlanar);
    }
    SetProducer(node, vertex);
  }

  // The vertex of the operand of a node that moves whole channels, or takes
  // positions, and so has the form of its operand; nullopt for other nodes.
  std::optional<int> VertexThatIsKept(int number) {
    const GraphNode& node = NodeOf(number);
    if (node.inputs.size() == 1 && lowering_.MovesOf(number) != nullptr) {
      const int root = lowering_.RootOf(node.inputs[0]).tensor;
      const auto move = lowering_.ChannelMoveOf(number, ShapeOf(root));
      if (!move.has_value()) return std::nullopt;
      moved_.insert_or_assign(node.outputs[0], move->map);
      return FormsOf(root).producer;
    }
    if (node.op_name() == "take" && IsMap(node.inputs[0]) &&
        IsMap(node.outputs[0])) {
      const std::optional<TakeChoice> take = TakeOf(node, graph_);
      if (take.has_value() && take->places.has_value() && take->axis >= 2 &&
          !lowering_.options_.only_sources) {
        return FormsOf(node.inputs[0]).producer;
      }
    }
    return std::nullopt;
  }

  // The conversions of a tensor between its producer and its users.
  void AddConversions(int t) {
    auto& [producer, users] = forms_[static_cast<size_t>(t)];
    const TensorShape map = ShapeOf(t);
    if (users.empty() || map.empty() || IsConstant(t)) return;
    SortAndUnique(users);
    const int64_t to_blocked = CostOf(ConversionNs(/*to_blocked=*/true, map));
    const int64_t to_planar = CostOf(ConversionNs(/*to_blocked=*/false, map));
    if (users.size() == 1) {
      cut_.AddCost(producer, users[0], to_blocked);
      cut_.AddCost(users[0], producer, to_planar);
      return;
    }
    if (producer != kBlocked) {
      const int converted = cut_.AddVertex();
      cut_.AddCost(producer, converted, to_blocked);
      for (const int user : users) {
        cut_.AddCost(converted, user, MinCut::kNever);
      }
    }
    if (producer != kPlanar) {
      const int converted = cut_.AddVertex();
      cut_.AddCost(converted, producer, to_planar);
      for (const int user : users) {
        cut_.AddCost(user, converted, MinCut::kNever);
      }
    }
  }

  // --- The solution ----------------------------------------------------------

  bool IsBlocked(int vertex) const {
    return vertex == kBlocked ||
           (vertex != kPlanar && is_solved_ && !cut_.IsSource(vertex));
  }

  void Choose(const Candidates& conv) {
    // Without a solution, as the kernels were made for.
    const bool reads_blocked =
        is_solved_
            ? IsBlocked(conv.reads)
            : conv.planar_input < 0 || lowering_.MapShape(conv.data).empty() ||
                  lowering_.MapShape(conv.data)[1] >= kernels::blocked::kBlock;
    const bool computes_blocked = !is_solved_ || IsBlocked(conv.computes);
    using Kind = ConvLayout::Kind;
    ConvLayout& layout = lowering_.conv_layouts_[conv.node];
    layout.kind = reads_blocked      ? Kind::kBlocked
                  : computes_blocked ? Kind::kPlanarInput
                                     : conv.planar_kind;
    const auto add = [&](Kind kind, const char* name, double ns, bool reads,
                         bool computes) {
      if (ns < 0) return;
      layout.candidates.push_back(
          {name, ns + ReadingNs(conv, reads) + ComputingNs(conv, computes)});
      if (kind == layout.kind) {
        std::swap(layout.candidates.front(), layout.candidates.back());
      }
    };
    add(Kind::kBlocked, "blocked", conv.blocked, true, true);
    add(Kind::kPlanarInput, "planar input", conv.planar_input, false, true);
    add(conv.planar_kind, conv.planar_kind == Kind::kRows ? "rows" : "planar",
        conv.planar, false, false);
  }

  // The time of the conversion of the data that this convolution alone needs if
  // it reads blocks, or a planar map.
  double ReadingNs(const Candidates& conv, bool blocked) const {
    const auto& [producer, users] = forms_[static_cast<size_t>(conv.data)];
    const TensorShape map = ShapeOf(conv.data);
    if (map.empty() || IsBlocked(producer) == blocked ||
        std::any_of(users.begin(), users.end(), [&](int user) {
          return user != conv.reads && IsBlocked(user) == blocked;
        })) {
      return 0;
    }
    return ConversionNs(blocked, map);
  }

  // The time of the conversions of results for their users if the convolution
  // computes blocks, or a planar map.
  double ComputingNs(const Candidates& conv, bool blocked) const {
    double ns = 0;
    for (const int t : computed_[static_cast<size_t>(conv.computes)]) {
      const std::vector<int>& users = forms_[static_cast<size_t>(t)].users;
      const TensorShape map = ShapeOf(t);
      if (!map.empty() &&
          std::any_of(users.begin(), users.end(),
                      [&](int user) { return IsBlocked(user) != blocked; })) {
        ns += ConversionNs(!blocked, map);
      }
    }
    return ns;
  }

  // --- Tensors and nodes -----------------------------------------------------

  const GraphNode& NodeOf(int number) const {
    return graph_.nodes[static_cast<size_t>(number)];
  }

  bool IsConstant(int t) const {
    return lowering_.TensorOf(t).constant.has_value();
  }

  // The shape of a map; empty for other tensors.
  TensorShape ShapeOf(int t) const {
    const auto found = moved_.find(t);
    return found != moved_.end() ? found->second : lowering_.MapShape(t);
  }

  // A view of some channels of a map of one image, or all of a tensor.
  bool IsMap(int t) const {
    const Place root = lowering_.RootOf(t);
    const TensorShape shape = ShapeOf(t);
    return !shape.empty() &&
           (root.tensor == t ||
            FirstChannel(shape, ShapeOf(root.tensor), root.offset) >= 0);
  }

  // True if the kernels of the node may compute blocks.
  bool MayBeBlocked(int number) const {
    const GraphNode& node = NodeOf(number);
    return !lowering_.is_claimed_[static_cast<size_t>(number)] &&
           node.region == nullptr && !node.outputs.empty() &&
           lowering_.TensorOf(node.outputs[0]).dtype == DType::Float(32);
  }

  Forms& FormsOf(int t) {
    return forms_[static_cast<size_t>(lowering_.RootOf(t).tensor)];
  }

  void AddUser(int t, int vertex) {
    if (!IsConstant(t)) FormsOf(t).users.push_back(vertex);
  }

  void SetProducer(const GraphNode& node, int vertex) {
    for (const int t : node.outputs) {
      forms_[static_cast<size_t>(t)].producer = vertex;
    }
  }

  // A vertex that is blocked if any of `vertices` is.
  int AddVertexOfAny(const std::vector<int>& vertices) {
    const int vertex = cut_.AddVertex();
    for (const int other : vertices) {
      cut_.AddCost(vertex, other, MinCut::kNever);
    }
    return vertex;
  }

  // The predicted time of the conversion of a map.
  double ConversionNs(bool to_blocked, const TensorShape& map) const {
    // The bytes of one form are those of the other.
    if (map[2] * map[3] == 1 && map[1] % kernels::blocked::kBlock == 0) {
      return 0;
    }
    return lowering_.PredictNs(
        WorkOf(to_blocked ? KernelRate::kToBlocked : KernelRate::kToPlanar,
               8 * static_cast<double>(map[0] * map[1] * map[2] * map[3])));
  }

  // The predicted time of elementwise calls behind `t`, as a step of their own.
  double SeparateEpilogueNs(int t) const {
    const std::vector<int>& users =
        lowering_.consumers_[static_cast<size_t>(t)];
    if (users.size() != 1 || users[0] == kOutput ||
        lowering_.group_of_[static_cast<size_t>(users[0])] == kNone) {
      return 0;
    }
    const double bytes =
        8 * static_cast<double>(lowering_.TensorOf(t).num_elements());
    return lowering_.PredictNs(
        WorkOf(KernelRate::kElementBytes, bytes)
            .Beside(KernelRate::kElementFunctions, bytes / 4));
  }

  // The operands of all calls of the group whose last node is `last`.
  std::vector<ElementArg> OperandsOfGroup(int last) const {
    std::vector<ElementArg> operands;
    FlatHashSet<int> results;
    for (const int member : lowering_.groups_.at(last)) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(member)];
      const std::optional<ElementCall> call = ElementCallOf(node, graph_);
      for (const ElementArg& arg : call->args) {
        if (!results.contains(arg.tensor)) operands.push_back(arg);
      }
      results.insert(node.outputs[0]);
    }
    return operands;
  }

  Lowering& lowering_;
  const Graph& graph_;
  std::vector<Candidates> convs_;
  MinCut cut_;
  bool is_solved_ = false;
  std::vector<Forms> forms_;  // of tensors, by the roots of views
  // The shapes of maps whose channels moved, which the graph may have in another
  // shape.
  FlatHashMap<int, TensorShape> moved_;
  std::vector<std::vector<int>> computed_;  // tensors, by their producers
};

void Lowering::ChooseLayouts() { LayoutChooser(*this).Run(); }

bool Lowering::HaveBlockedForms(const std::vector<ElementArg>& operands,
                                const TensorShape& shape) const {
  return (shape.size() == 3 || shape.size() == 4) &&
         std::all_of(operands.begin(), operands.end(),
                     [&](const ElementArg& operand) {
                       return TensorOf(operand.tensor).num_elements() == 1 ||
                              (operand.type == DType::Float(32) &&
                               HasBlockedForm(operand, shape));
                     });
}

}  // namespace baton::cpu::internal
