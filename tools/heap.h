// Configures the heap of a program that works with large tensors.

#ifndef BATON_TOOLS_HEAP_H_
#define BATON_TOOLS_HEAP_H_

namespace baton {

// For main functions, before other threads start. Makes malloc keep freed
// memory, take blocks of up to 32 MiB from the heap instead of mapping each,
// and put the heap's first GiB on huge pages: page faults on first access took
// half of the time of an import. Tensors smaller than a huge page share pages.
// The GiB is address space, not memory. Up to 2 MiB of it, before the first huge
// page, stay unused.
//
// Only the first call has an effect. No effect if the address space or the data
// of the process are limited (setrlimit) to less than 4 GiB, or if malloc is not
// glibc's.
void PutHeapOnHugePages();

// For main functions, before other threads start. Makes malloc keep the freed
// memory of blocks of up to 1 GiB, whatever the limits of the process are. No
// effect if malloc is not glibc's.
void KeepFreedMemory();

}  // namespace baton

#endif  // BATON_TOOLS_HEAP_H_
