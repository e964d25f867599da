# Fracture. In this sheet, of 943 nodes, springs tear in nearly each step, and in every other one some nodes are cut off.
set(sheet --width 47 --height 25 --steps 40 --missing-nodes 200 --weak-springs 300 --pull 90 --mass 4 --friction 1 --seed 3)
set(sheet_breaks "nodes=868 springs=1586 steps=40 verified=yes")
foreach(version IN ITEMS objects arrays)
  set(result "structure: version=${version}")
  sample_runs(structure ${version} LAST "${result} ${sheet_breaks}" ARGS --version ${version} ${sheet})
  # Not stable: nodes fly as fast as they may, and through each other.
  sample_runs(structure wild_${version} RELEASE LAST "${result} nodes=533 springs=1186 steps=30 verified=yes"
    ARGS --version ${version} --width 33 --height 17 --steps 30 --mass 1 --pull 1024 --friction 0 --spread 128 --strength 1023)
  # Of 1939 nodes a fifth is loose from the beginning, and ways to those that are held are long.
  sample_runs(structure porous_${version} RELEASE LAST "${result} nodes=1518 springs=2367 steps=10 verified=yes"
    ARGS --version ${version} --width 60 --height 60 --steps 10 --missing-nodes 480)
  sample_runs(structure narrow_${version} RELEASE LAST "${result} nodes=299 springs=297 steps=20 verified=yes"
    ARGS --version ${version} --width 1 --height 300 --steps 20 --missing-nodes 0)
  sample_runs(structure no_free_${version} RELEASE LAST "${result} nodes=18 springs=16 steps=5 verified=yes"
    ARGS --version ${version} --width 9 --height 2 --steps 5 --pull 1024)
  sample_runs(structure all_missing_${version} RELEASE LAST "${result} nodes=18 springs=16 steps=5 verified=yes"
    ARGS --version ${version} --width 9 --height 9 --steps 5 --missing-nodes 1024)
  sample_runs(structure feeble_${version} RELEASE LAST "${result} nodes=571 springs=1476 steps=10 verified=yes"
    ARGS --version ${version} --width 30 --height 20 --steps 10 --strength 0)
endforeach()
sample_runs(structure no_atomics64 RELEASE LAST "structure: version=objects ${sheet_breaks}" ARGS ${sheet} "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(structure debug RELEASE LAST "structure: version=objects nodes=378 springs=886 steps=12 verified=yes"
  ARGS --width 20 --height 20 --steps 12 --pull 100 --debug)
sample_runs(structure pictures LONG LAST "structure: version=objects nodes=378 springs=978 steps=4 verified=yes"
  ARGS --width 20 --height 20 --steps 4 --frames ${CMAKE_CURRENT_BINARY_DIR}/structure_frames --frame-steps 2)
sample_fails(structure too_small MATCH "^structure: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)
sample_fails(structure full MATCH "^structure: at the beginning [1-9][0-9]* objects were not created for want of memory" ARGS --bytes 500K)

# Objects that move as they are broken loose.
sample_runs(structure defragmented LONG LAST "structure: version=objects ${sheet_breaks}" MATCH "kma_world_move_kernel" ARGS ${sheet} --defragment-when 0.02)
