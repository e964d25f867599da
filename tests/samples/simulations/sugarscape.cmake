# The sugarscape: each version on the same land, on land that is no square and on the smallest; agents that see far, many, few and none; without
# memory the simulation goes on.
set(here ${CMAKE_CURRENT_BINARY_DIR}/sugarscape)
set(land --width 200 --height 120 --steps 60)
set(small --width 64 --height 48) # one size for most: a program is compiled for it
foreach(version IN ITEMS objects cells)
  set(sugarscape "sugarscape: version=${version}")
  sample_runs(sugarscape ${version} LAST "${sugarscape} males=2387 females=2732 steps=60 verified=yes" ARGS --version ${version} ${land})
  sample_runs(sugarscape ${version}_narrow LAST "${sugarscape} males=469 females=459 steps=40 verified=yes"
    ARGS --version ${version} --width 9 --height 501 --vision 8 --seed 7 --steps 40)
  sample_runs(sugarscape ${version}_smallest RELEASE LAST "${sugarscape} males=5 females=7 steps=200 verified=yes"
    ARGS --version ${version} --width 8 --height 8 --vision 8 --male-share 60 --female-share 60 --steps 200)
  sample_runs(sugarscape ${version}_paradise RELEASE LAST "${sugarscape} males=1393 females=1395 steps=120 verified=yes"
    ARGS --version ${version} ${small} --vision 5 --fertile-from 0 --fertile-until 255 --metabolism 0 --metabolism-more 3 --capacity 255 --regrowth 1
         --steps 120)
  sample_runs(sugarscape ${version}_desert RELEASE LAST "${sugarscape} males=0 females=0 steps=20 verified=yes"
    ARGS --version ${version} ${small} --capacity 0 --steps 20)
  sample_runs(sugarscape ${version}_crowd RELEASE LAST "${sugarscape} males=289 females=241 steps=30 verified=yes"
    ARGS --version ${version} ${small} --male-share 128 --female-share 128 --steps 30)
  sample_runs(sugarscape ${version}_males_only RELEASE LAST "${sugarscape} males=636 females=0 steps=20 verified=yes"
    ARGS --version ${version} ${small} --male-share 256 --female-share 0 --steps 20)
  sample_runs(sugarscape ${version}_nobody RELEASE LAST "${sugarscape} males=0 females=0 steps=10 verified=yes"
    ARGS --version ${version} ${small} --male-share 0 --female-share 0 --steps 10)
  sample_runs(sugarscape ${version}_no_step RELEASE LAST "${sugarscape} males=241 females=331 steps=0 verified=yes"
    ARGS --version ${version} ${small} --steps 0)
endforeach()
sample_runs(sugarscape no_atomics64 RELEASE LAST "sugarscape: version=objects males=2387 females=2732 steps=60 verified=yes"
  ARGS ${land} "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(sugarscape debug RELEASE LAST "sugarscape: version=objects males=2387 females=2732 steps=60 verified=yes" ARGS ${land} --debug)
sample_runs(sugarscape pictures LONG LAST "sugarscape: version=objects males=290 females=373 steps=4 verified=yes"
  ARGS ${small} --steps 4 --frames ${here}/frames --frame-steps 2 --curve ${here}/frames/curve.csv)
set(few ${land} --male-share 10 --female-share 10) # and soon many more
sample_runs(sugarscape full LAST "" MATCH "; [1-9][0-9]* not created for want of memory.*steps=60 verified=not possible\n$" ARGS ${few} --bytes 180000)
sample_fails(sugarscape stops_when_full MATCH "^sugarscape: after step [0-9]+ [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS ${few} --bytes 180000 --stop-when-full)
sample_fails(sugarscape full_at_first MATCH "^sugarscape: at the beginning [0-9]+ objects were not created" ARGS ${few} --bytes 150000 --stop-when-full)
sample_fails(sugarscape too_small MATCH "^sugarscape: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)

# Agents that move in memory, too.
sample_runs(sugarscape defragmented LONG LAST "sugarscape: version=objects males=2387 females=2732 steps=60 verified=yes" MATCH "kma_world_move_kernel"
  ARGS ${land} --defragment-when 0.02)
