# Breadth-first search: each version on a file's graph both ways and on graphs that are made; parts of one edge and of many, graphs of few nodes.
set(here ${CMAKE_CURRENT_BINARY_DIR}/bfs)
file(WRITE ${here}/odd.txt "1 2\n2 3\n2 3\n3 1\n3 3\n9 4294967295\n") # a ring with parallel edges and a loop, and one apart
foreach(version IN ITEMS objects arrays)
  set(bfs "bfs: version=${version}")
  sample_runs(bfs ${version} LAST "${bfs} nodes=63597 edges=279232 reached=48658 farthest=9 steps=10 verified=yes" ARGS --version ${version})
  sample_runs(bfs ${version}_forwards LAST "${bfs} nodes=63597 edges=279232 reached=214 farthest=11 steps=12 verified=yes"
    ARGS --version ${version} --reverse 0 --from 3498134653)
  sample_runs(bfs ${version}_scale_free LAST "${bfs} nodes=4096 edges=65536 reached=2951 farthest=4 steps=5 verified=yes"
    ARGS --version ${version} --graph scale-free)
  sample_runs(bfs ${version}_grid LAST "${bfs} nodes=4096 edges=11152 reached=4006 farthest=124 steps=125 verified=yes"
    ARGS --version ${version} --graph grid)
  sample_runs(bfs ${version}_odd LAST "${bfs} nodes=5 edges=6 reached=3 farthest=2 steps=3 verified=yes"
    ARGS --version ${version} --graph ${here}/odd.txt --reverse 0 --from 1)
  sample_runs(bfs ${version}_not_to_the_end RELEASE LAST "${bfs} nodes=63597 edges=279232 reached=44995 farthest=3 steps=3 verified=yes"
    ARGS --version ${version} --steps 3)
  sample_runs(bfs ${version}_no_step RELEASE LAST "${bfs} nodes=63597 edges=279232 reached=1 farthest=0 steps=0 verified=yes"
    ARGS --version ${version} --steps 0)
  sample_runs(bfs ${version}_part_1 RELEASE LAST "${bfs} nodes=63597 edges=279232 reached=48658 farthest=9 steps=10 verified=yes"
    ARGS --version ${version} --part 1)
  sample_runs(bfs ${version}_part_1024 RELEASE LAST "${bfs} nodes=63597 edges=279232 reached=48658 farthest=9 steps=10 verified=yes"
    ARGS --version ${version} --part 1024)
  sample_runs(bfs ${version}_without_edges RELEASE LAST "${bfs} nodes=4096 edges=0 reached=1 farthest=0 steps=1 verified=yes"
    ARGS --version ${version} --graph grid --edge-share 0)
  sample_runs(bfs ${version}_two_nodes RELEASE LAST "${bfs} nodes=2 edges=2 reached=2 farthest=1 steps=2 verified=yes"
    ARGS --version ${version} --graph grid --scale 1)
  sample_runs(bfs ${version}_end RELEASE LAST "${bfs} nodes=5 edges=6 reached=1 farthest=0 steps=1 verified=yes" # no edge leads on
    ARGS --version ${version} --graph ${here}/odd.txt --reverse 0 --from 4294967295)
endforeach()
sample_runs(bfs no_atomics64 RELEASE LAST "bfs: version=objects nodes=4096 edges=65536 reached=2951 farthest=4 steps=5 verified=yes"
  ARGS --graph scale-free --part 5 "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(bfs debug RELEASE LAST "bfs: version=objects nodes=4096 edges=65536 reached=2951 farthest=4 steps=5 verified=yes"
  ARGS --graph scale-free --part 5 --debug)
sample_runs(bfs pictures LONG LAST "bfs: version=objects nodes=4096 edges=11152 reached=4006 farthest=124 steps=125 verified=yes"
  ARGS --graph grid --frames ${here}/frames --frame-steps 50 --curve ${here}/curve.csv)
sample_fails(bfs too_small MATCH "^bfs: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)
sample_fails(bfs full_at_first MATCH "^bfs: at the beginning [0-9]+ objects were not created for want of memory; give more by --bytes" ARGS --bytes 600000)
sample_fails(bfs full MATCH "^bfs: in the end [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS --graph scale-free --scale 8 --part 1 --bytes 150000)
sample_fails(bfs stops_when_full MATCH "^bfs: after step [0-9]+ [0-9]+ objects were not created"
  ARGS --graph scale-free --scale 8 --part 1 --bytes 150000 --stop-when-full)
sample_fails(bfs from_nowhere MATCH "^bfs: --from 6: the graph has no such node" ARGS --graph ${here}/odd.txt --from 6)
sample_fails(bfs from_words MATCH "^bfs: --from libc6: the graph has no such node" ARGS --from libc6)
sample_fails(bfs missing MATCH "missing.txt: cannot be opened" ARGS --graph missing.txt)
