// Small schedules of each operation in text 2, with their counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::vectors {

struct Counts {
  std::size_t steps, startups, messages, blocks;
  Bytes transmission, sent, combined;
};
struct Vector {
  std::string_view name, text;  // without the first line
  Counts counts;
};

inline const std::vector<Vector> all{
    {"01-allgather-ring",
     R"(topology ring:3
operation allgather
block 8
steps 2
step 0
nodes 0..2: send 8 to +1 [+0], receive 8 from -1
step 1
nodes 0..2: send 8 to +1 [-1], receive 8 from -1
end
)",
     {2, 2, 6, 6, 16, 48, 0}},
    {"02-alltoall-shift",
     R"(topology complete:3
operation alltoall
block 8
steps 2
step 0
node 0: send 8 to 1 [0.1], receive 8 from 2
node 1: send 8 to 2 [1.2], receive 8 from 0
node 2: send 8 to 0 [2.0], receive 8 from 1
step 1
nodes 0..2: send 8 to -1 [+0.-1], receive 8 from +1
end
)",
     {2, 2, 6, 6, 16, 48, 0}},
    {"03-broadcast-binomial",
     R"(topology complete:4
operation broadcast root 1
block 100
steps 2
step 0
node 1: send 100 to 2 [1]
node 2: receive 100 from 1
step 1
nodes 1..2: send 100 to +2 [1]
node 0: receive 100 from 2
node 3: receive 100 from 1
end
)",
     {2, 2, 3, 3, 200, 300, 0}},
    {"04-broadcast-pipelined",
     R"(topology line:3
operation broadcast
block 9
parts 2
steps 3
phase 0..1 fill
step 0
node 0: send 4 to 1 [0/0]
node 1: receive 4 from 0
step 1
node 0: send 5 to 1 [0/1]
node 1: send 4 to 2 [0/0], receive 5 from 0
node 2: receive 4 from 1
step 2
node 1: send 5 to 2 [0/1]
node 2: receive 5 from 1
end
)",
     {3, 3, 4, 4, 14, 18, 0}},
    {"05-reduce-in-order",
     R"(topology line:3
operation reduce
block 8
steps 2
step 0
node 1: receive 8 from 2
node 2: send 8 to 1 [2]
step 1
node 0: receive 8 from 1
node 1: combine 8 [1+2], send 8 to 0 [{1..2}]
end
node 0: combine 8 [0+{1 2}]
)",
     {2, 2, 2, 2, 16, 16, 16}},
    {"06-allreduce-ring",
     R"(topology ring:2
operation allreduce
block 8
parts 2
commutative
steps 2
step 0
nodes 0..1: send 4 to +1 [+0/+0], receive 4 from +1
step 1
nodes 0..1: combine 4 [+1/+1++0/+1], send 4 to +1 [{+1 +0}/+1], receive 4 from +1
end
)",
     {2, 2, 4, 4, 8, 16, 4}},
    {"07-reduce-scatter",
     R"(topology complete:2
operation reduce_scatter
block 8
steps 1
step 0
node 0: send 8 to 1 [0.1], receive 8 from 1
node 1: send 8 to 0 [1.0], receive 8 from 0
end
node 0: combine 8 [0.0+1.0]
node 1: combine 8 [0.1+1.1]
)",
     {1, 1, 2, 2, 8, 16, 8}},
    {"08-exscan",
     R"(topology line:3
operation exscan
block 8
steps 2
step 0
node 0: send 8 to 1 [0]
node 1: receive 8 from 0
step 1
node 1: combine 8 [0+1], send 8 to 2 [{0 1}]
node 2: receive 8 from 1
end
)",
     {2, 2, 2, 2, 16, 16, 8}},
    {"09-gatherv",
     R"(topology complete:3
operation gatherv root 2
size 0 4
size 1 0
size 2 12
steps 2
step 0
node 0: send 4 to 2 [0]
node 2: receive 4 from 0 [0]
step 1
node 1: send 0 to 2 [1]
node 2: receive 0 from 1
end
)",
     {2, 2, 2, 2, 4, 4, 0}},
    {"10-barrier",
     R"(topology ring:3
operation barrier
steps 2
step 0
nodes 0..2: send 0 to +1, receive 0 from -1
step 1
nodes 0..2: send 0 to +2, receive 0 from -2
end
)",
     {2, 2, 6, 0, 0, 0, 0}},
    {"11-allgather-doubling",
     R"(topology hypercube:2
operation allgather
block 8
steps 2
about recursive doubling
step 0
nodes 0..3: send 8 to ^1 [+0], receive 8 from ^1
step 1
nodes 0..3: send 16 to ^2 [^0..^1], receive 16 from ^2
end
)",
     {2, 2, 8, 12, 24, 96, 0}},
    {"12-k-gather-torus",
     R"(topology torus:2x2
operation k_gather sources 0,3
block 8
steps 2
step 0
node 0: receive 8 from 1, receive 8 from 2
node 1: send 8 to +(0,1) [1.0], send 8 to +(1,0) [1.1]
node 2: send 8 to +(1,0) [2.0], send 8 to +(0,1) [2.1]
node 3: receive 8 from 1, receive 8 from 2
step 1
node 0: send 8 to 3 by 0+1 1+1 [0.1], receive 8 from 3
node 3: send 8 to 0 by 0-1 1-1 [3.0], receive 8 from 0
end
)",
     {2, 2, 6, 6, 16, 48, 0}},
};

}  // namespace wormcube::vectors
