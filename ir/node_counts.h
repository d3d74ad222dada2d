// Counts the nodes that a thread makes and destroys.

#ifndef BATON_IR_NODE_COUNTS_H_
#define BATON_IR_NODE_COUNTS_H_

#include <cstdint>
#include <mutex>
#include <thread>

namespace baton {

// The numbers of nodes of all classes that were made and destroyed, with their
// bytes. Nodes of more than 256 bytes are not counted; under sanitizers no
// nodes are counted.
struct NodeCounts {
  int64_t made = 0;
  int64_t made_bytes = 0;
  int64_t destroyed = 0;
  int64_t destroyed_bytes = 0;
  // The maximum of made_bytes - destroyed_bytes.
  int64_t peak_bytes = 0;
};

// Between Begin() and End(), which may be nested, the calling thread counts
// nodes. Counting costs about as much as making a node. Threads that do not
// count pay nothing.
class NodeCounting {
 public:
  // If memory runs out, Begin() succeeds, but nothing is counted.
  static void Begin();
  static void End();
  // The counts of this thread since the outermost Begin(); zeros outside.
  static NodeCounts Now();

  // For a thread with helper threads: the nodes that the helpers make and
  // destroy count for the thread.
  class Helpers {
   public:
    Helpers();  // on the thread that has helpers
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    // Call on the thread that has helpers, when the helpers have ended.
    void Join();

    // Put around the work of a helper; no effect on the thread that has
    // helpers.
    class Use {
     public:
      explicit Use(Helpers& helpers);
      ~Use();
      Use(const Use&) = delete;
      Use& operator=(const Use&) = delete;

     private:
      Helpers* helpers_;  // null: no effect
    };

   private:
    const bool counts_;
    const std::thread::id thread_;
    std::mutex mutex_;
    NodeCounts counted_;
  };
};

}  // namespace baton

#endif  // BATON_IR_NODE_COUNTS_H_
