// The source texts of the blocked kernels, which compiled libraries include as
// needed. The build makes the texts from the files of the kernels, without
// their includes and their outer namespaces. Functions are inline ones, of
// which a program has one copy.
//
// A source must define BATON_VECTOR_BYTES and the other macros of vector.inc
// before the texts, and BATON_AVX2 and BATON_AVX512, with no value, for
// processors that have these.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_

namespace baton::kernels::blocked {

extern const char kVectorText[];     // precedes all others
extern const char kConvText[];       // precedes kPoolText and kChannelsText
extern const char kMatmulText[];     // matmul.inc
extern const char kPoolText[];       // pool.inc
extern const char kChannelsText[];   // channels.inc
extern const char kMapText[];        // map.inc
extern const char kFoldText[];       // fold_windows.cc
extern const char kIntegersText[];   // precedes the three below
extern const char kInt8ConvText[];   // int8_conv.inc, precedes kByteSlabsText
extern const char kByteSlabsText[];  // byte_slabs.cc
extern const char kIntMatmulText[];  // int_matmul.inc

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_
