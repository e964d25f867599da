// The suites: each is a function in a file of suites/ that measures one kind of heap.
#pragma once

#include "bench.hpp"

namespace bench {

void uniform(Bench &bench);
void mixed(Bench &bench);
void churn(Bench &bench);
void latency(Bench &bench);
void scaling(Bench &bench);
void fill(Bench &bench);
void steady(Bench &bench);
void sparse(Bench &bench);
void large(Bench &bench);
void access(Bench &bench);
void workgen(Bench &bench);
void adjacency(Bench &bench);
void lists(Bench &bench);
void objects(Bench &bench);    ///< the object store, in a world of its own; uses no heap
void defragment(Bench &bench); ///< object-store defragmentation; uses no heap
void collect(Bench &bench);    ///< a collector, in a heap of its own
void compact(Bench &bench);    ///< its compaction
void init(Bench &bench);
void registers(Bench &bench);
void compile(Bench &bench);
void host(Bench &bench); ///< a CPU's allocators; uses no heap

struct Suite {
    const char *name;
    void (*run)(Bench &bench);
    bool once = false; ///< runs once, not for each heap
};

constexpr Suite all_suites[] = {
    {"uniform", uniform},       {"mixed", mixed},
    {"churn", churn},           {"latency", latency},
    {"scaling", scaling},       {"fill", fill},
    {"steady", steady},         {"sparse", sparse},
    {"large", large},           {"access", access},
    {"workgen", workgen},       {"adjacency", adjacency},
    {"lists", lists},           {"init", init},
    {"registers", registers},   {"compile", compile},
    {"objects", objects, true}, {"defragment", defragment, true},
    {"collect", collect, true}, {"compact", compact, true},
    {"host", host, true},
};

} // namespace bench
