# Bodies that merge. By this seed no pair's distance comes within 2e-4 of the one at which they merge, so that rounding does not decide.
set(collapse --bodies 600 --seed 23 --merge-distance 0.02 --gravity 1e-6 --steps 45 --verify-steps 45)
foreach(version IN ITEMS objects arrays pointers)
  sample_runs(collision ${version} LAST "collision: version=${version} bodies=320 steps=45 verified=yes"
    ARGS --version ${version} ${collapse})
  sample_runs(collision one_${version} RELEASE LAST "collision: version=${version} bodies=1 steps=3 verified=yes"
    ARGS --version ${version} --bodies 1 --steps 3)
  sample_runs(collision two_${version} RELEASE LAST "collision: version=${version} bodies=1 steps=3 verified=yes"
    ARGS --version ${version} --bodies 2 --merge-distance 1 --steps 3)
  sample_runs(collision crowd_${version} RELEASE LAST "collision: version=${version} bodies=10 steps=20 verified=yes"
    ARGS --version ${version} --bodies 65 --seed 1 --merge-distance 0.5 --steps 20 --verify-steps 20)
  sample_runs(collision walls_${version} RELEASE LAST "collision: version=${version} bodies=126 steps=30 verified=yes"
    ARGS --version ${version} --bodies 300 --merge-distance 0.02 --speed 2 --time-step 0.2 --steps 30 --verify-steps 30)
endforeach()
sample_runs(collision no_atomics64 RELEASE LAST "collision: version=objects bodies=320 steps=45 verified=yes"
  ARGS ${collapse} "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(collision debug RELEASE LAST "collision: version=objects bodies=320 steps=45 verified=yes" ARGS ${collapse} --debug)
sample_runs(collision pictures LONG LAST "collision: version=objects bodies=320 steps=45 verified=yes"
  ARGS ${collapse} --frames ${CMAKE_CURRENT_BINARY_DIR}/collision_frames --frame-steps 15)
sample_fails(collision too_small MATCH "^collision: a world of 1000 bytes is too small" ARGS --bytes 1000)
sample_fails(collision full MATCH "^collision: at the beginning [1-9][0-9]* objects were not created for want of memory" ARGS --bytes 100K)
sample_fails(collision too_heavy MATCH "^collision: 300000 bodies of mass up to 75 may have more than 2\\^24 in all" ARGS --bodies 300000)

# Bodies that move in memory, too, as they become fewer.
sample_runs(collision defragmented LONG LAST "collision: version=objects bodies=320 steps=45 verified=yes" MATCH "kma_world_move_kernel"
  ARGS ${collapse} --defragment-when 0.02)
