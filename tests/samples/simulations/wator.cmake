# Wa-Tor: each version in the same ocean, one that is no square, one with few agents; without memory the simulation goes on.
foreach(version IN ITEMS objects cells pointers)
  sample_runs(wator ${version} LAST "wator: version=${version} fish=13169 sharks=1180 steps=50 verified=yes"
    ARGS --version ${version} --width 200 --height 120 --steps 50)
endforeach()
sample_runs(wator narrow RELEASE LAST "wator: version=objects fish=136 sharks=11 steps=30 verified=yes" ARGS --width 3 --height 500 --steps 30 --seed 7)
sample_runs(wator no_sharks RELEASE LAST "wator: version=objects fish=4096 sharks=0 steps=20 verified=yes" ARGS --width 64 --height 64 --steps 20 --shark-share 0)
sample_runs(wator no_atomics64 LONG LAST "wator: version=objects fish=13169 sharks=1180 steps=50 verified=yes"
  ARGS --width 200 --height 120 --steps 50 "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(wator defragmented LAST "wator: version=objects fish=13169 sharks=1180 steps=50 verified=yes" MATCH "kma_world_move_kernel"
  ARGS --width 200 --height 120 --steps 50 --defragment-when 0.05)
sample_runs(wator debug LONG LAST "wator: version=objects fish=13169 sharks=1180 steps=50 verified=yes" ARGS --width 200 --height 120 --steps 50 --debug)
sample_runs(wator full LAST "" MATCH "; [1-9][0-9]* not created for want of memory.*steps=60 verified=not possible\n$"
  ARGS --width 200 --height 120 --steps 60 --bytes 250000)
sample_fails(wator stops_when_full MATCH "^wator: after step [0-9]+ [0-9]+ objects were not created for want of memory; give more by --bytes" ARGS --width 200 --height 120 --steps 60 --bytes 300000 --stop-when-full)
sample_fails(wator too_small MATCH "^wator: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)
sample_runs(wator pictures LONG LAST "wator: version=objects fish=161 sharks=782 steps=4 verified=yes"
  ARGS --width 64 --height 48 --steps 4 --frames ${CMAKE_CURRENT_BINARY_DIR}/frames --frame-steps 2 --curve ${CMAKE_CURRENT_BINARY_DIR}/curve.csv)
add_test(NAME samples.wator.curve COMMAND ${KMA_PYOPENCL_PYTHON} -B ${PROJECT_SOURCE_DIR}/samples/wator/curve.py curve.csv curve.svg
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(samples.wator.curve PROPERTIES LABELS long TIMEOUT 60 DEPENDS samples.wator.pictures)
sample_fails(wator no_device MATCH "^wator: no OpenCL device matches" ARGS --device no-such-device)
