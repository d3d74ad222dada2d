// The kernels as texts, of which shipped libraries have those that they need:
// made by the build from the files of the kernels, without their includes and
// their outer namespaces.
//
// Whoever compiles them defines BATON_VECTOR_BYTES and the like (vector.inc).

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_

namespace baton::kernels::blocked {

extern const char kVectorText[];    // precedes all others
extern const char kConvText[];      // precedes kPoolText and kChannelsText
extern const char kMatmulText[];    // matmul.inc
extern const char kPoolText[];      // pool.inc
extern const char kChannelsText[];  // channels.inc
extern const char kMapText[];       // map.inc

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_KERNEL_TEXTS_H_
