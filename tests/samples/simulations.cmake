# The simulations on the object store, as included by CMakeLists.txt. Each parameter that a kernel
# has as a constant is a program more for PoCL: corners of the rules, and most flavours, are release
# tests.

# begin(SAMPLE version…): what follows is of this program. Its least world is too small.
macro(begin name)
  set(sample ${name})
  set(all_versions ${ARGN})
  rows(quick all)
  fails(too_small "^${sample}: a world of 1000 bytes is too small: .* need [0-9]+" --bytes 1000)
endmacro()

# rows(LABEL all|objects): what follows has this label, and is of all versions or of `objects`.
macro(rows label_of_rows which)
  set(label ${label_of_rows})
  set(versions objects)
  if("${which}" STREQUAL all)
    set(versions ${all_versions})
  endif()
endmacro()

# flavours(RESULT argument…): without 64-bit atomics, and with checks.
function(flavours result)
  runs(no_atomics64 ${result} ${ARGN} "--build-options=-DKMA_HAS_ATOMIC64=0")
  runs(debug ${result} ${ARGN} --debug)
endfunction()

# moves(SHARE RESULT argument…): objects move in memory, too.
function(moves share result)
  prints(defragmented ${result} "kma_world_move_kernel" ${ARGN} --defragment-when ${share})
endfunction()

# pictures(STEPS RESULT argument…): one of every so many steps.
function(pictures steps result)
  runs(pictures ${result} ${ARGN} --frames ${here}/${sample} --frame-steps ${steps})
endfunction()

# full(NAME WHEN argument…): says when it ran out of memory, and what to do.
function(full name when)
  fails(${name} "^${sample}: ${when} [1-9][0-9]* objects were not created for want of memory; \
give more by --bytes" ${ARGN})
endfunction()

begin(nbody objects arrays pointers)
runs(default "bodies=2000 steps=10")
rows(release objects)
runs(one "bodies=1 steps=3" --bodies 1 --steps 3)
runs(dense "bodies=500 steps=40" --bodies 500 --steps 40 --gravity 1e-7)

# How many cells there are is decided by places, which devices round in their own ways.
begin(barnes_hut objects rebuilt arrays)
function(bodies name bodies steps)
  runs(${name} "bodies=${bodies} cells=[0-9]+ steps=${steps}"
    --bodies ${bodies} --steps ${steps} --verify-steps ${steps} ${ARGN})
endfunction()
bodies(default 700 12 --speed 2)
bodies(one_place 300 10 --spread 0 --speed 1) # all leave one chain
full(no_room "at the beginning" --bodies 4000 --bytes 300K)
set(explosion --bodies 300 --spread 0 --speed 1 --steps 12)
full(full "(at the beginning|in the end)" ${explosion} --bytes 172K)
full(full_arrays "(at the beginning|in the end)" ${explosion} --version arrays --bytes 8000)
rows(release all)
bodies(chains 600 12 --depth 3 --speed 2)
bodies(no_cells 300 5 --depth 1)
bodies(one 1 5)
bodies(two 2 40 --speed 2)
bodies(debug 700 12 --speed 2 --debug)
rows(release objects)
bodies(calm 4000 10)
bodies(still 100 5 --spread 0 --speed 0 --spin 0)
bodies(deep 500 5 --depth 23 --spread 1e-4 --speed 1e-3 --spin 0 --gravity 1e-12)
bodies(walls 500 20 --speed 100)
bodies(exact 300 3 --theta 0.01)
bodies(no_atomics64 700 12 --speed 2 "--build-options=-DKMA_HAS_ATOMIC64=0")
rows(long objects)
bodies(pictures 500 4 --frames ${here}/barnes_hut --frame-steps 2)

# Bodies that merge. By this seed no pair's distance comes within 2e-4 of the one at which they
# merge, so that rounding does not decide.
begin(collision objects arrays pointers)
set(result "bodies=320 steps=45")
set(collapse --bodies 600 --seed 23 --merge-distance 0.02 --gravity 1e-6 --steps 45
  --verify-steps 45)
runs(default ${result} ${collapse})
full(full "at the beginning" --bytes 100K)
fails(too_heavy "^collision: 300000 bodies of mass up to 75 may have more than 2\\^24 in all"
  --bodies 300000)
rows(release all)
runs(one "bodies=1 steps=3" --bodies 1 --steps 3)
runs(two "bodies=1 steps=3" --bodies 2 --merge-distance 1 --steps 3)
runs(crowd "bodies=10 steps=20"
  --bodies 65 --seed 1 --merge-distance 0.5 --steps 20 --verify-steps 20)
runs(walls "bodies=126 steps=30"
  --bodies 300 --merge-distance 0.02 --speed 2 --time-step 0.2 --steps 30 --verify-steps 30)
rows(release objects)
flavours(${result} ${collapse})
rows(long objects)
pictures(15 ${result} ${collapse})
moves(0.02 ${result} ${collapse})

# A file's graph both ways, graphs that are made, parts of one edge and of many, few nodes.
begin(bfs objects arrays)
file(WRITE ${here}/bfs.txt "1 2\n2 3\n2 3\n3 1\n3 3\n9 4294967295\n") # a ring, and one edge apart
set(small --graph ${here}/bfs.txt --reverse 0 --from)
set(scale_free "nodes=4096 edges=65536 reached=2951 farthest=4 steps=5")
set(grid "nodes=4096 edges=11152 reached=4006 farthest=124 steps=125")
set(reversed "${debian} reached=48658 farthest=9 steps=10")
set(tight --graph scale-free --scale 8 --part 1 --bytes 150000)
runs(default ${reversed})
runs(forwards "${debian} reached=214 farthest=11 steps=12" --reverse 0 --from 3498134653)
runs(scale_free ${scale_free} --graph scale-free)
runs(grid ${grid} --graph grid)
runs(odd "nodes=5 edges=6 reached=3 farthest=2 steps=3" ${small} 1)
full(full_at_first "at the beginning" --bytes 600000)
full(full "in the end" ${tight})
fails(stops_when_full "^bfs: after step [0-9]+ [0-9]+ objects were not created"
  ${tight} --stop-when-full)
fails(from_nowhere "^bfs: --from 6: the graph has no such node" --graph ${here}/bfs.txt --from 6)
fails(from_words "^bfs: --from libc6: the graph has no such node" --from libc6)
fails(missing "missing.txt: cannot be opened" --graph missing.txt)
rows(release all)
runs(not_to_the_end "${debian} reached=44995 farthest=3 steps=3" --steps 3)
runs(no_step "${debian} reached=1 farthest=0 steps=0" --steps 0)
runs(part_1 ${reversed} --part 1)
runs(part_1024 ${reversed} --part 1024)
runs(without_edges "nodes=4096 edges=0 reached=1 farthest=0 steps=1" --graph grid --edge-share 0)
runs(two_nodes "nodes=2 edges=2 reached=2 farthest=1 steps=2" --graph grid --scale 1)
runs(end "nodes=5 edges=6 reached=1 farthest=0 steps=1" ${small} 4294967295) # no edge leads on
rows(release objects)
flavours(${scale_free} --graph scale-free --part 5)
rows(long objects)
pictures(50 ${grid} --graph grid --curve ${here}/bfs.csv)

# Soup and guns, patterns from files, grids of a few cells; worlds that are full at first, or later.
begin(game_of_life objects cells)
set(small --width 201 --height 80) # one size for most: a program is compiled for it
set(soup "alive=2074 candidates=5921 steps=40")
file(WRITE ${here}/glider.rle "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$\n3o!\n")
file(WRITE ${here}/r-pentomino.cells "!Name: R-pentomino\n.OO\nOO\n.O\n")
file(WRITE ${here}/highlife.rle "x = 3, y = 3, rule = B36/S23\nbob$2bo$3o!\n")
file(WRITE ${here}/headless.rle "bob$2bo$3o!\n")
file(WRITE ${here}/dead.rle "x = 3, y = 3\n3b$3b!\n")
set(grows --steps 300 --pattern ${here}/r-pentomino.cells)
runs(default ${soup} ${small} --steps 40)
runs(guns "alive=210 candidates=707 steps=100" ${small} --pattern guns --guns 3)
runs(glider "alive=4 candidates=8 steps=240" # a block at the edge in the end
  ${small} --steps 240 --pattern ${here}/glider.rle)
full(full_at_first "at the beginning" ${small} --bytes 200000)
full(full "in the end" ${small} --bytes 137000 ${grows})
fails(stops_when_full "^game_of_life: after step [0-9]+ [0-9]+ objects were not created"
  ${small} --bytes 137000 ${grows} --stop-when-full)
fails(other_rule
  "highlife.rle:1: the pattern's rule is 'B36/S23', and this is Conway's game, B3/S23"
  --pattern ${here}/highlife.rle)
fails(no_pattern "headless.rle:1: 'b' is no part of a pattern, which has . and O"
  --pattern ${here}/headless.rle)
fails(nobody_in_pattern "dead.rle: no cell lives in this pattern" --pattern ${here}/dead.rle)
fails(large_pattern "glider.rle:3: the pattern is larger than 2 x 256 cells"
  --width 2 --pattern ${here}/glider.rle)
fails(missing_pattern "missing.rle: cannot be opened" --pattern missing.rle)
fails(many_guns "--guns 4 is too much for 201 x 80 cells: 3 is the most"
  ${small} --pattern guns --guns 4)
rows(release all)
runs(r_pentomino "alive=168 candidates=510 steps=300" ${grows})
runs(narrow "alive=110 candidates=235 steps=100" --width 3 --height 500)
runs(one_cell "alive=0 candidates=0 steps=3" --width 1 --height 1 --steps 3 --soup-share 256)
runs(one_row "alive=0 candidates=0 steps=50" --width 70 --height 1 --steps 50)
runs(nobody "alive=0 candidates=0 steps=3" --steps 3 --soup-share 0)
runs(no_step "alive=24507 candidates=40017 steps=0" --steps 0)
rows(release objects)
flavours(${soup} ${small} --steps 40)
rows(long objects)
pictures(30 "alive=174 candidates=621 steps=60"
  ${small} --pattern guns --guns 3 --steps 60 --curve ${here}/life.csv)
moves(0.05 ${soup} ${small} --steps 40)

# Fracture. In this sheet, of 943 nodes, springs tear in nearly each step, and in every other one
# some nodes are cut off.
begin(structure objects arrays)
set(result "nodes=868 springs=1586 steps=40")
set(sheet --width 47 --height 25 --steps 40 --missing-nodes 200 --weak-springs 300 --pull 90 --mass
  4 --friction 1 --seed 3)
runs(default ${result} ${sheet})
full(full "at the beginning" --bytes 500K)
rows(release all)
# Not stable: nodes fly as fast as they may, and through each other.
runs(wild "nodes=533 springs=1186 steps=30" --width 33 --height 17 --steps 30 --mass 1 --pull 1024
  --friction 0 --spread 128 --strength 1023)
# Of 1939 nodes a fifth is loose from the beginning, and ways to those that are held are long.
runs(porous "nodes=1518 springs=2367 steps=10"
  --width 60 --height 60 --steps 10 --missing-nodes 480)
runs(narrow "nodes=299 springs=297 steps=20"
  --width 1 --height 300 --steps 20 --missing-nodes 0)
runs(no_free "nodes=18 springs=16 steps=5" --width 9 --height 2 --steps 5 --pull 1024)
runs(all_missing "nodes=18 springs=16 steps=5"
  --width 9 --height 9 --steps 5 --missing-nodes 1024)
runs(feeble "nodes=571 springs=1476 steps=10" --width 30 --height 20 --steps 10 --strength 0)
rows(release objects)
runs(no_atomics64 ${result} ${sheet} "--build-options=-DKMA_HAS_ATOMIC64=0")
runs(debug "nodes=378 springs=886 steps=12" --width 20 --height 20 --steps 12 --pull 100 --debug)
rows(long objects)
pictures(2 "nodes=378 springs=978 steps=4" --width 20 --height 20 --steps 4)
moves(0.02 ${result} ${sheet})

# Land that is no square and the smallest; agents that see far, many, few and none. Without memory
# the simulation goes on.
begin(sugarscape objects cells)
set(land --width 200 --height 120 --steps 60)
set(small --width 64 --height 48) # one size for most: a program is compiled for it
set(few ${land} --male-share 10 --female-share 10) # and soon many more
set(result "males=2387 females=2732 steps=60")
runs(default ${result} ${land})
runs(narrow "males=469 females=459 steps=40"
  --width 9 --height 501 --vision 8 --seed 7 --steps 40)
full(full_at_first "at the beginning" ${few} --bytes 150000 --stop-when-full)
full(stops_when_full "after step [0-9]+" ${few} --bytes 180000 --stop-when-full)
rows(quick objects)
prints(full ".* steps=60 verified=not possible" "; [1-9][0-9]* not created for want of memory"
  ${few} --bytes 180000)
rows(release all)
runs(smallest "males=5 females=7 steps=200"
  --width 8 --height 8 --vision 8 --male-share 60 --female-share 60 --steps 200)
runs(paradise "males=1393 females=1395 steps=120" ${small} --vision 5 --fertile-from 0
  --fertile-until 255 --metabolism 0 --metabolism-more 3 --capacity 255 --regrowth 1 --steps 120)
runs(desert "males=0 females=0 steps=20" ${small} --capacity 0 --steps 20)
runs(crowd "males=289 females=241 steps=30"
  ${small} --male-share 128 --female-share 128 --steps 30)
runs(males_only "males=636 females=0 steps=20"
  ${small} --male-share 256 --female-share 0 --steps 20)
runs(nobody "males=0 females=0 steps=10" ${small} --male-share 0 --female-share 0 --steps 10)
runs(no_step "males=241 females=331 steps=0" ${small} --steps 0)
rows(release objects)
flavours(${result} ${land})
rows(long objects)
pictures(2 "males=290 females=373 steps=4" ${small} --steps 4 --curve ${here}/sugarscape.csv)
moves(0.02 ${result} ${land})

# Streets of one cell or few, of which a vehicle passes several in a step; two cells in all.
begin(traffic objects cells)
set(result "vehicles=1052 halted=819 cells=3863 steps=200")
set(busy --source-chance 200)
runs(default ${result} ${busy})
full(full "in the end" ${busy} --bytes 340000)
full(stops_when_full "after step [0-9]+" ${busy} --bytes 340000 --stop-when-full)
full(full_of_cells "at the beginning" ${busy} --bytes 280000)
fails(too_large "^traffic: the streets would have more than [0-9]+ cells; take fewer"
  --columns 4096 --rows 4096)
rows(quick objects)
runs(narrow "vehicles=376 halted=350 cells=587 steps=150"
  --columns 2 --rows 40 --block 3 --source-share 60 ${busy} --steps 150)
rows(release all)
runs(crossings "vehicles=70 halted=50 cells=879 steps=200"
  --columns 20 --rows 15 --block 1 --source-share 60 --sink-share 60 --green 1)
runs(no_sources "vehicles=0 halted=0 cells=3863 steps=3" --source-share 0 --steps 3)
rows(release objects)
runs(smallest "vehicles=2 halted=2 cells=2 steps=9" --columns 2 --rows 1 --block 1
  --source-share 1024 --sink-share 0 --source-chance 1024 --seed 1 --steps 9)
runs(fast "vehicles=774 halted=689 cells=1939 steps=100"
  --max-speed 100 --dawdle-chance 0 --block 7 --source-chance 1024 --steps 100)
flavours(${result} ${busy})
rows(long objects)
pictures(20 "vehicles=16 halted=11 cells=142 steps=40" --columns 3 --rows 2 ${busy} --steps 40)
moves(0.01 ${result} ${busy})

# An ocean that is no square, one with few agents. Without memory the simulation goes on.
begin(wator objects cells pointers)
set(result "fish=13169 sharks=1180 steps=50")
set(ocean --width 200 --height 120)
runs(default ${result} ${ocean} --steps 50)
full(stops_when_full "after step [0-9]+" ${ocean} --steps 60 --bytes 300000 --stop-when-full)
fails(no_device "^wator: no OpenCL device matches" --device no-such-device)
rows(quick objects)
moves(0.05 ${result} ${ocean} --steps 50)
prints(full ".* steps=60 verified=not possible" "; [1-9][0-9]* not created for want of memory"
  ${ocean} --steps 60 --bytes 250000)
rows(release objects)
runs(narrow "fish=136 sharks=11 steps=30" --width 3 --height 500 --steps 30 --seed 7)
runs(no_sharks "fish=4096 sharks=0 steps=20" --width 64 --height 64 --steps 20 --shark-share 0)
rows(long objects)
flavours(${result} ${ocean} --steps 50)
pictures(2 "fish=161 sharks=782 steps=4"
  --width 64 --height 48 --steps 4 --curve ${here}/curve.csv)
add_test(NAME samples.wator.curve COMMAND ${KMA_PYOPENCL_PYTHON} -B
  ${PROJECT_SOURCE_DIR}/samples/wator/curve.py curve.csv curve.svg WORKING_DIRECTORY ${here})
set_tests_properties(samples.wator.curve PROPERTIES LABELS long TIMEOUT 60
  DEPENDS samples.wator.objects.pictures)
