#include "baton/testing/loops_pipelines.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "baton/testing/registered_passes.h"

namespace baton::testing {
namespace {

#define BATON_INIT "tir.LowerInitBlock"
#define BATON_OPAQUE \
  BATON_INIT         \
  ",tir.PlanAndUpdateBufferAllocationLocation,tir.ConvertBlocksToOpaque"
#define BATON_MATCHED \
  BATON_OPAQUE ",tir.CompactBufferAllocation,tir.LowerMatchBuffer"
#define BATON_LOWERED BATON_MATCHED ",tir.LowerOpaqueBlock"
#define BATON_FLAT BATON_LOWERED ",tir.FlattenBuffer"
#define BATON_TARGET "tir.BindTarget{target={kind:llvm,keys:[cpu],tag:\"\"}}"

// The passes that run before `pass`. Passes that are not in the table take
// functions with blocks, and flat ones.
struct Given {
  absl::string_view pass;
  absl::string_view before;
};
constexpr Given kGiven[] = {
    {"tir.PlanAndUpdateBufferAllocationLocation", BATON_INIT},
    {"tir.ConvertBlocksToOpaque", BATON_INIT},
    {"tir.CompactBufferAllocation", BATON_OPAQUE},
    {"tir.LowerMatchBuffer", BATON_OPAQUE},
    {"tir.LowerOpaqueBlock", BATON_MATCHED},
    {"tir.FlattenBuffer", BATON_LOWERED},
    {"tir.HoistExpression", BATON_FLAT},
    {"tir.HoistIfThenElse", BATON_FLAT},
    {"tir.VectorizeLoop", BATON_FLAT},
    {"tir.StorageRewrite", BATON_FLAT ",tir.VectorizeLoop"},
    {"tir.AnnotateDeviceRegions", BATON_TARGET},
    {"tir.LowerCustomDatatypes", BATON_TARGET},
    {"tir.LowerDeviceKernelLaunch", BATON_TARGET},
    {"tir.LowerIntrin", BATON_TARGET},
    {"tir.LowerWarpMemory", BATON_TARGET},
    {"tir.LowerThreadAllreduce", BATON_TARGET},
    {"tir.VerifyMemory", BATON_TARGET},
    {"tir.MakePackedAPI", BATON_FLAT "," BATON_TARGET},
    {"tir.MakeUnpackedAPI", BATON_FLAT "," BATON_TARGET},
    {"tir.usmp.PlanMemory", BATON_FLAT ",tir.usmp.AssignPoolInfo"},
    {"tir.usmp.ConvertPoolAllocationsToOffsets",
     BATON_FLAT ",tir.usmp.AssignPoolInfo,tir.usmp.PlanMemory"},
    {"tir.UnifiedStaticMemoryPlanner", BATON_FLAT},
};

}  // namespace

std::vector<std::string> PassesOverLoops() {
  std::vector<std::string> result;
  for (const std::string& text : RegisteredPasses()) {
    if (absl::StartsWith(text, "tir.")) result.push_back(text);
  }
  return result;
}

std::vector<std::string> PipelinesBefore(absl::string_view pass) {
  for (const Given& given : kGiven) {
    if (given.pass == pass) return {std::string(given.before)};
  }
  return {"", BATON_FLAT};
}

}  // namespace baton::testing
