// The heap of a program that works with large tensors.

#ifndef BATON_TOOLS_HEAP_H_
#define BATON_TOOLS_HEAP_H_

namespace baton {

// For main functions, before other threads start. Makes malloc keep what is
// freed, take blocks of up to 32 MiB from the heap instead of mapping each, and
// have the heap's first GiB on huge pages: the first accesses to memory, a
// fault for each page, took half of the time of an import. Tensors smaller than
// a huge page share them. The GiB is address space, not memory.
//
// Has an effect once; none while the address space or the data of the process
// are limited (setrlimit), or if malloc is not glibc's.
void PutHeapOnHugePages();

}  // namespace baton

#endif  // BATON_TOOLS_HEAP_H_
