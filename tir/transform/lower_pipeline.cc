#include "baton/transform/config.h"
#include "baton/transform/pipeline.h"

namespace baton::tir {
namespace {

// Settings of the reference's lowering. The steps below name them.
[[maybe_unused]] const ConfigKey<bool> kSettings[] = {
    {"tir.disable_vectorize", false,
     "tir.lower makes vectorized loops serial."},
    {"tir.disable_storage_rewrite", false,
     "tir.lower gives each buffer memory of its own."},
    {"tir.use_async_copy", false,
     "tir.lower lowers asynchronous copies to calls of the device."},
    {"tir.instrument_bound_checkers", false,
     "tir.lower checks indices before stores."},
    {"tir.disable_cse_tir", false,
     "tir.lower does not eliminate common subexpressions."},
    {"tir.enable_equiv_terms_in_cse_tir", false,
     "tir.lower eliminates equivalent subexpressions, too."},
    {"tir.disable_assert", false, "tir.lower removes assertions."},
    {"tir.ptx_ldg32", false,
     "tir.lower makes conditional loads instructions with a predicate."},
    {"tir.usmp.enable", false,
     "tir.lower plans the memory of all functions together."},
};

// The order is that of the reference's lowering of functions with blocks;
// passes that only schedules of tensor expressions need are left out.
BATON_REGISTER_PIPELINE(
    "tir.lower",
    {.doc = "Lowers functions with blocks to loops over flat memory.",
     .steps =
         {{"tir.AddedLowerPasses{phase=0}", "Users' passes see all."},
          {"tir.TextureFlatten",
           "Memory for images is none of the memory "
           "that the passes below know."},
          {"tir.LowerCrossThreadReduction",
           "A reduction over threads needs the block that says what is "
           "reduced."},
          {"tir.LowerInitBlock",
           "From here on a reduction is a store like others."},
          {"tir.PlanAndUpdateBufferAllocationLocation",
           "A buffer that lives where it is needed can be made smaller "
           "there."},
          {"tir.ConvertBlocksToOpaque",
           "Regions in terms of loops can be united; those of variables of "
           "blocks cannot."},
          {"tir.LiftThreadBinding",
           "Loops of one thread become one, before kernels are made."},
          {"tir.ManifestSharedMemoryLocalStage",
           "Copies by way of registers need buffers of their own, which are "
           "made smaller below."},
          {"tir.CompactBufferAllocation",
           "Buffers get the size that is accessed."},
          {"tir.LowerAutoCopy",
           "Copies between memories need the final sizes of buffers."},
          {"tir.UnifyThreadBinding",
           "Copies bind threads again: each kernel has one variable a "
           "thread."},
          {"tir.LowerMatchBuffer",
           "Matched buffers become offsets, before blocks go."},
          {"tir.Simplify", "Offsets of matched buffers are sums."},
          {"tir.InjectPermutedLayout",
           "The columns of shared memory are permuted where blocks still say "
           "so."},
          {"tir.Simplify", "Permuted indices have quotients of sums."},
          {"tir.InjectSoftwarePipeline",
           "Stages are blocks, and need the regions that these access."},
          {"tir.TransformMmaBufferLayout",
           "Matrices of instructions become registers, after pipelines have "
           "made versions of them."},
          {"tir.LowerOpaqueBlock",
           "Nothing below needs blocks: allocations, conditions and loops "
           "remain."},
          {"tir.FlattenBuffer", "Memory has one axis."},
          {"tir.FP8ComputeLegalize",
           "Computes in wider types what processors cannot."},
          {"tir.BF16ComputeLegalize", "As before, for numbers of 16 bits."},
          {"tir.NarrowDataType{target_bits=32}",
           "Indices of flat memory that fit are computed with 32 bits."},
          {"tir.Simplify", "Loop partition needs simple conditions."},
          {"tir.AddedLowerPasses{phase=1}",
           "Users' passes see flat memory and simple conditions."},
          {"tir.LoopPartition",
           "Conditions go where they are known, before loops become "
           "vectors."},
          {"WhenConfig{key=tir.disable_vectorize,is=false}"
           "(tir.VectorizeLoop)",
           "Vectors, before loops are unrolled."},
          {"WhenConfig{key=tir.disable_vectorize}"
           "(tir.VectorizeLoop{enable_vectorize=false})",
           "Vectorized loops become serial ones."},
          {"tir.InjectVirtualThread",
           "Virtual threads run one after the other."},
          {"tir.InjectDoubleBuffer",
           "Filling ahead splits loops, which still are loops here."},
          {"WhenConfig{key=tir.disable_storage_rewrite,is=false}"
           "(tir.StorageRewrite)",
           "Memory is shared when all allocations are known."},
          {"WhenConfig{key=tir.use_async_copy}(tir.LowerAsyncDMA)",
           "Copies become calls while loops still show what is copied."},
          {"tir.UnrollLoop", "Unrolled loops would hide what is shared."},
          {"tir.AddedLowerPasses{phase=2}", "Users' passes see final loops."},
          {"tir.RenormalizeSplitPattern",
           "Quotients of rests, which unrolling and splitting make, become "
           "rests of quotients."},
          {"tir.Simplify", "Values of unrolled loops are constants."},
          {"tir.RemoveNoOp", "Conditions that became false leave nothing."},
          {"tir.RewriteUnsafeSelect",
           "A choice must not compute what may fail."},
          {"tir.HoistIfThenElse",
           "Conditions go out of the loops that do not change them."},
          {"tir.AddedLowerPasses{phase=3}",
           "Users' passes see all but common subexpressions."},
          {"WhenConfig{key=tir.instrument_bound_checkers}"
           "(tir.InstrumentBoundCheckers)",
           "Checks are of final indices."},
          {"WhenConfig{key=tir.ptx_ldg32}(tir.InjectPTXLDG32)",
           "Addresses that are stored are subexpressions like others."},
          {"WhenConfig{key=tir.disable_cse_tir,is=false}"
           "(WhenConfig{key=tir.enable_equiv_terms_in_cse_tir,is=false}"
           "(tir.CommonSubexprElimTIR),"
           "WhenConfig{key=tir.enable_equiv_terms_in_cse_tir}"
           "(tir.CommonSubexprElimTIR{identify_equiv_terms=true}))",
           "Indices that are computed often are computed once, after all "
           "that changes them."},
          {"WhenConfig{key=tir.disable_assert}(tir.SkipAssert)",
           "Until here assertions say what passes may assume."},
          {"WhenConfig{key=tir.instrument_lwp}"
           "(tir.InstrumentProfileIntrinsics)",
           "Marks are of the loops that run."},
          {"WhenConfig{key=tir.usmp.enable}(tir.UnifiedStaticMemoryPlanner)",
           "Memory is planned when no pass allocates more."}},
     .not_idempotent = "Common subexpressions get new variables, which a "
                       "second run may find more in."});

}  // namespace
}  // namespace baton::tir
