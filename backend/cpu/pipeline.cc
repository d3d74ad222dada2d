// Registers the named pipeline cpu.

#include "baton/transform/pipeline.h"

namespace baton::cpu {
namespace {

BATON_REGISTER_PIPELINE(
    "cpu",
    {.doc =
         "What a plan for this machine needs; keeps all results bit for bit.",
     .opt_level = 3,
     .steps = {
         {"DynamicToStatic",
          "Operators whose shapes are operands become static where those "
          "operands can be computed."},
         {"FoldConstant{max_elements=134217728,max_growth=268435456,"
          "in_memory=true}",
          "What weights alone decide is computed now."},
         {"Conv3dAsConv2d",
          "Convolutions over three axes have kernels as such over two."},
         {"EliminateCommonSubexpr", "What is computed twice is computed once."},
         {"RemoveUnusedFunctions",
          "What @main does not reach needs no plan."}}});

}  // namespace
}  // namespace baton::cpu
