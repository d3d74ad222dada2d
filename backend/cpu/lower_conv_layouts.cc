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

double Lowering::ConversionNs(KernelRate rate, const TensorShape& map) const {
  // The bytes of one form are those of the other.
  if (map[2] * map[3] == 1 && map[1] % kernels::blocked::kBlock == 0) return 0;
  return PredictNs(
      WorkOf(rate, 8 * static_cast<double>(map[0] * map[1] * map[2] * map[3])));
}

void Lowering::ChooseLayouts() {
  std::vector<Candidates> convs;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    if (is_view_[i] || is_claimed_[i]) continue;
    const auto params = ConvParamsOf(node, graph_);
    if (!params.has_value()) continue;
    Candidates conv;
    conv.node = static_cast<int>(i);
    kernels::blocked::ConvParams p = *params;
    conv.blocked = PredictNs(WorkOfConv(p));
    if (p.groups == 1) {
      p.planar_input = true;
      conv.planar_input = PredictNs(WorkOfConv(p));
      if (IsUnit(p.h) && IsUnit(p.w)) {
        conv.planar_kind = ConvLayout::Kind::kRows;
        conv.planar = PredictNs(WorkOfMatmul(RowsOf(p)));
      } else if (IsPointwise(p.h) && IsPointwise(p.w) &&
                 p.out_channels >= kFewRows) {
        conv.planar = PredictNs(WorkOfProduct(ImageProductOf(p))) +
                      SeparateEpilogueNs(node.outputs[0]);
      }
    }
    convs.push_back(conv);
  }
  if (convs.empty()) return;

  // The forms of tensors, by the roots of views.
  MinCut cut;
  std::vector<Forms> forms(graph_.tensors.size());
  // The shapes of maps whose channels moved, which the graph may have in another
  // shape.
  FlatHashMap<int, TensorShape> moved;
  const auto shape_of = [&](int t) {
    const auto found = moved.find(t);
    return found != moved.end() ? found->second : MapShape(t);
  };
  const auto forms_of = [&](int t) -> Forms& {
    return forms[static_cast<size_t>(RootOf(t).tensor)];
  };
  const auto read = [&](int t, int vertex) {
    if (TensorOf(t).constant.has_value()) return;
    forms_of(t).users.push_back(vertex);
  };
  // A view of some channels of a map of one image, or all of a tensor.
  const auto is_map = [&](int t) {
    const Place root = RootOf(t);
    return !shape_of(t).empty() &&
           (root.tensor == t ||
            FirstChannel(shape_of(t), shape_of(root.tensor), root.offset) >= 0);
  };
  size_t next = 0;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (is_view_[i]) continue;
    const GraphNode& node = graph_.nodes[i];
    const auto set_producer = [&](int vertex) {
      for (const int t : node.outputs) {
        forms[static_cast<size_t>(t)].producer = vertex;
      }
    };
    if (next < convs.size() && convs[next].node == static_cast<int>(i)) {
      Candidates& conv = convs[next++];
      conv.reads = cut.AddVertex();
      conv.computes = cut.AddVertex();
      const int data = node.inputs[0];
      if (is_map(data)) {
        conv.data = RootOf(data).tensor;
      } else {
        // A view of a tensor that is no map is converted by itself.
        conv.data = data;
        read(data, kPlanar);
      }
      if (!TensorOf(data).constant.has_value()) {
        forms[static_cast<size_t>(conv.data)].users.push_back(conv.reads);
      }
      set_producer(conv.computes);
      cut.AddCost(conv.computes, conv.reads, MinCut::kNever);
      cut.AddCost(kPlanar, conv.reads, CostOf(conv.blocked));
      cut.AddCost(
          conv.reads, conv.computes,
          conv.planar_input < 0 ? MinCut::kNever : CostOf(conv.planar_input));
      cut.AddCost(conv.computes, kBlocked,
                  conv.planar < 0 ? MinCut::kNever : CostOf(conv.planar));
      continue;
    }
    int vertex = kPlanar;
    const int t = node.outputs.empty() ? -1 : node.outputs[0];
    // The last node of a group is all of it.
    if (group_of_[i] != kNone && group_of_[i] != static_cast<int>(i)) continue;
    if (!is_claimed_[i] && node.region == nullptr && t >= 0 &&
        TensorOf(t).dtype == DType::Float(32)) {
      if (group_of_[i] != kNone) {
        const std::vector<ElementArg> operands =
            OperandsOfGroup(static_cast<int>(i));
        const TensorShape& shape = TensorOf(t).shape;
        std::vector<int> maps;
        for (const ElementArg& arg : operands) {
          if (arg.shape == shape && is_map(arg.tensor) &&
              !TensorOf(arg.tensor).constant.has_value()) {
            maps.push_back(forms_of(arg.tensor).producer);
          }
        }
        std::sort(maps.begin(), maps.end());
        maps.erase(std::unique(maps.begin(), maps.end()), maps.end());
        if (!maps.empty() && HaveBlockedForms(operands, shape)) {
          // The step has the form of any operand that is blocked.
          vertex = maps[0];
          if (maps.size() > 1) {
            vertex = cut.AddVertex();
            for (const int map : maps) {
              cut.AddCost(vertex, map, MinCut::kNever);
            }
          }
        }
        for (const ElementArg& arg : operands) {
          if (maps.size() == 1 && vertex == maps[0] && arg.shape == shape &&
              is_map(arg.tensor)) {
            continue;
          }
          read(arg.tensor, is_map(arg.tensor) ? vertex : kPlanar);
        }
        set_producer(vertex);
        continue;
      } else if (PoolOf(node, graph_).has_value() ||
                 LrnParamsOf(node, graph_).has_value() ||
                 TransposedConvOf(node, graph_).has_value()) {
        vertex = kBlocked;
      } else if (IsChannelConcatenation(node) && is_map(t) &&
                 std::all_of(node.inputs.begin(), node.inputs.end(), is_map)) {
        vertex = cut.AddVertex();
        for (const int part : node.inputs) {
          cut.AddCost(vertex, forms_of(part).producer, MinCut::kNever);
        }
      } else if (node.inputs.size() == 1 &&
                 MovesOf(static_cast<int>(i)) != nullptr) {
        const Place root = RootOf(node.inputs[0]);
        if (const auto move =
                ChannelMoveOf(static_cast<int>(i), shape_of(root.tensor));
            move.has_value()) {
          moved.insert_or_assign(t, move->map);
          set_producer(forms_of(root.tensor).producer);
          continue;
        }
      } else if (node.op_name() == "take" && is_map(node.inputs[0]) &&
                 is_map(t)) {
        const std::optional<TakeChoice> take = TakeOf(node, graph_);
        if (take.has_value() && take->places.has_value() && take->axis >= 2 &&
            !options_.only_sources) {
          set_producer(forms_of(node.inputs[0]).producer);
          continue;
        }
      }
    }
    if (group_of_[i] != kNone) {
      for (const ElementArg& arg : OperandsOfGroup(static_cast<int>(i))) {
        read(arg.tensor, kPlanar);
      }
      continue;
    }
    for (const int input : node.inputs) {
      read(input, is_map(input) ? vertex : kPlanar);
    }
    set_producer(vertex);
  }
  for (const int t : graph_.outputs) read(t, kPlanar);

  for (size_t t = 0; t < forms.size(); ++t) {
    auto& [producer, users] = forms[t];
    const TensorShape map = shape_of(static_cast<int>(t));
    if (users.empty() || map.empty() ||
        TensorOf(static_cast<int>(t)).constant.has_value()) {
      continue;
    }
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    const int64_t to_blocked =
        CostOf(ConversionNs(KernelRate::kToBlocked, map));
    const int64_t to_planar = CostOf(ConversionNs(KernelRate::kToPlanar, map));
    if (users.size() == 1) {
      cut.AddCost(producer, users[0], to_blocked);
      cut.AddCost(users[0], producer, to_planar);
      continue;
    }
    if (producer != kBlocked) {
      const int converted = cut.AddVertex();
      cut.AddCost(producer, converted, to_blocked);
      for (const int user : users) {
        cut.AddCost(converted, user, MinCut::kNever);
      }
    }
    if (producer != kPlanar) {
      const int converted = cut.AddVertex();
      cut.AddCost(converted, producer, to_planar);
      for (const int user : users) {
        cut.AddCost(user, converted, MinCut::kNever);
      }
    }
  }
  const bool is_solved = cut.Solve();
  std::vector<std::vector<int>> made_by(cut.num_vertices());
  for (size_t t = 0; t < forms.size(); ++t) {
    made_by[static_cast<size_t>(forms[t].producer)].push_back(
        static_cast<int>(t));
  }

  for (const Candidates& conv : convs) {
    // Without a solution, as the kernels were made for.
    const bool reads_blocked =
        is_solved ? !cut.IsSource(conv.reads)
                  : conv.planar_input < 0 || MapShape(conv.data).empty() ||
                        MapShape(conv.data)[1] >= kernels::blocked::kBlock;
    const bool computes_blocked = !is_solved || !cut.IsSource(conv.computes);
    const auto is_blocked = [&](int vertex) {
      return vertex == kBlocked ||
             (vertex != kPlanar && is_solved && !cut.IsSource(vertex));
    };
    // The time of conversions that this convolution alone needs.
    const auto reading = [&](bool blocked) {
      const auto& [producer, users] = forms[static_cast<size_t>(conv.data)];
      const TensorShape map = shape_of(conv.data);
      if (map.empty() || is_blocked(producer) == blocked ||
          std::any_of(users.begin(), users.end(), [&](int user) {
            return user != conv.reads && is_blocked(user) == blocked;
          })) {
        return 0.0;
      }
      return ConversionNs(
          blocked ? KernelRate::kToBlocked : KernelRate::kToPlanar, map);
    };
    const auto computing = [&](bool blocked) {
      double ns = 0;
      for (const int t : made_by[static_cast<size_t>(conv.computes)]) {
        const std::vector<int>& users = forms[static_cast<size_t>(t)].users;
        const TensorShape map = shape_of(t);
        if (!map.empty() &&
            std::any_of(users.begin(), users.end(), [&](int user) {
              return is_blocked(user) != blocked;
            })) {
          ns += ConversionNs(
              blocked ? KernelRate::kToPlanar : KernelRate::kToBlocked, map);
        }
      }
      return ns;
    };
    ConvLayout& layout = conv_layouts_[conv.node];
    using Kind = ConvLayout::Kind;
    layout.kind = reads_blocked      ? Kind::kBlocked
                  : computes_blocked ? Kind::kPlanarInput
                                     : conv.planar_kind;
    const auto add = [&](Kind kind, const char* name, double ns, bool reads,
                         bool computes) {
      if (ns < 0) return;
      layout.candidates.push_back(
          {name, ns + reading(reads) + computing(computes)});
      if (kind == layout.kind) {
        std::swap(layout.candidates.front(), layout.candidates.back());
      }
    };
    add(Kind::kBlocked, "blocked", conv.blocked, true, true);
    add(Kind::kPlanarInput, "planar input", conv.planar_input, false, true);
    add(conv.planar_kind, conv.planar_kind == Kind::kRows ? "rows" : "planar",
        conv.planar, false, false);
  }
}

double Lowering::SeparateEpilogueNs(int t) const {
  const std::vector<int>& users = consumers_[static_cast<size_t>(t)];
  if (users.size() != 1 || users[0] == kOutput ||
      group_of_[static_cast<size_t>(users[0])] == kNone) {
    return 0;
  }
  const double bytes = 8 * static_cast<double>(TensorOf(t).num_elements());
  return PredictNs(WorkOf(KernelRate::kElementBytes, bytes)
                       .Beside(KernelRate::kElementFunctions, bytes / 4));
}

std::vector<ElementArg> Lowering::OperandsOfGroup(int last) const {
  std::vector<ElementArg> operands;
  FlatHashSet<int> results;
  for (const int member : groups_.at(last)) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(member)];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    for (const ElementArg& arg : call->args) {
      if (!results.contains(arg.tensor)) operands.push_back(arg);
    }
    results.insert(node.outputs[0]);
  }
  return operands;
}

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
