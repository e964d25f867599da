# Traffic: each version on the same streets; on streets of one cell or few, of which a vehicle passes several in a step; on two cells in all.
foreach(version IN ITEMS objects cells)
  sample_runs(traffic ${version} LAST "traffic: version=${version} vehicles=1052 halted=819 cells=3863 steps=200 verified=yes"
    ARGS --version ${version} --source-chance 200)
  sample_runs(traffic crossings_${version} RELEASE LAST "traffic: version=${version} vehicles=70 halted=50 cells=879 steps=200 verified=yes"
    ARGS --version ${version} --columns 20 --rows 15 --block 1 --source-share 60 --sink-share 60 --green 1)
endforeach()
sample_runs(traffic narrow LAST "traffic: version=objects vehicles=376 halted=350 cells=587 steps=150 verified=yes"
  ARGS --columns 2 --rows 40 --block 3 --source-share 60 --source-chance 200 --steps 150)
sample_runs(traffic smallest RELEASE LAST "traffic: version=objects vehicles=2 halted=2 cells=2 steps=9 verified=yes"
  ARGS --columns 2 --rows 1 --block 1 --source-share 1024 --sink-share 0 --source-chance 1024 --seed 1 --steps 9)
sample_runs(traffic fast RELEASE LAST "traffic: version=objects vehicles=774 halted=689 cells=1939 steps=100 verified=yes"
  ARGS --max-speed 100 --dawdle-chance 0 --block 7 --source-chance 1024 --steps 100)
foreach(version IN ITEMS objects cells)
  sample_runs(traffic no_sources_${version} RELEASE LAST "traffic: version=${version} vehicles=0 halted=0 cells=3863 steps=3 verified=yes"
    ARGS --version ${version} --source-share 0 --steps 3)
endforeach()
sample_runs(traffic no_atomics64 RELEASE LAST "traffic: version=objects vehicles=1052 halted=819 cells=3863 steps=200 verified=yes"
  ARGS --source-chance 200 "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(traffic debug RELEASE LAST "traffic: version=objects vehicles=1052 halted=819 cells=3863 steps=200 verified=yes" ARGS --source-chance 200 --debug)
sample_fails(traffic full MATCH "^traffic: in the end [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS --source-chance 200 --bytes 340000)
sample_fails(traffic stops_when_full MATCH "^traffic: after step [0-9]+ [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS --source-chance 200 --bytes 340000 --stop-when-full)
sample_fails(traffic full_of_cells MATCH "^traffic: at the beginning [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS --source-chance 200 --bytes 280000)
sample_fails(traffic too_small MATCH "^traffic: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)
sample_fails(traffic too_large MATCH "^traffic: the streets would have more than [0-9]+ cells; take fewer" ARGS --columns 4096 --rows 4096)
sample_runs(traffic pictures LONG LAST "traffic: version=objects vehicles=16 halted=11 cells=142 steps=40 verified=yes"
  ARGS --columns 3 --rows 2 --source-chance 200 --steps 40 --frames ${CMAKE_CURRENT_BINARY_DIR}/traffic-frames --frame-steps 20)

# Vehicles that move in memory, too.
sample_runs(traffic defragmented LONG LAST "traffic: version=objects vehicles=1052 halted=819 cells=3863 steps=200 verified=yes" MATCH "kma_world_move_kernel"
  ARGS --source-chance 200 --defragment-when 0.01)
