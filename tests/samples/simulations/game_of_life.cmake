# The game of life: each version on soup and guns, patterns from files, grids of a few cells; worlds that are full at first, or by and by.
set(here ${CMAKE_CURRENT_BINARY_DIR}/life)
file(WRITE ${here}/glider.rle "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$\n3o!\n")
file(WRITE ${here}/r-pentomino.cells "!Name: R-pentomino\n.OO\nOO\n.O\n")
file(WRITE ${here}/highlife.rle "x = 3, y = 3, rule = B36/S23\nbob$2bo$3o!\n")
file(WRITE ${here}/headless.rle "bob$2bo$3o!\n")
file(WRITE ${here}/dead.rle "x = 3, y = 3\n3b$3b!\n")
set(small --width 201 --height 80) # one size for most: a program is compiled for it
foreach(version IN ITEMS objects cells)
  set(life "game_of_life: version=${version}")
  sample_runs(game_of_life ${version} LAST "${life} alive=2074 candidates=5921 steps=40 verified=yes"
    ARGS --version ${version} ${small} --steps 40)
  sample_runs(game_of_life ${version}_guns LAST "${life} alive=210 candidates=707 steps=100 verified=yes"
    ARGS --version ${version} ${small} --pattern guns --guns 3)
  sample_runs(game_of_life ${version}_glider LAST "${life} alive=4 candidates=8 steps=240 verified=yes" # a block at the edge in the end
    ARGS --version ${version} ${small} --steps 240 --pattern ${here}/glider.rle)
  sample_runs(game_of_life ${version}_r_pentomino RELEASE LAST "${life} alive=168 candidates=510 steps=300 verified=yes"
    ARGS --version ${version} --steps 300 --pattern ${here}/r-pentomino.cells)
  sample_runs(game_of_life ${version}_narrow RELEASE LAST "${life} alive=110 candidates=235 steps=100 verified=yes"
    ARGS --version ${version} --width 3 --height 500)
  sample_runs(game_of_life ${version}_one_cell RELEASE LAST "${life} alive=0 candidates=0 steps=3 verified=yes"
    ARGS --version ${version} --width 1 --height 1 --steps 3 --soup-share 256)
  sample_runs(game_of_life ${version}_one_row RELEASE LAST "${life} alive=0 candidates=0 steps=50 verified=yes"
    ARGS --version ${version} --width 70 --height 1 --steps 50)
  sample_runs(game_of_life ${version}_nobody RELEASE LAST "${life} alive=0 candidates=0 steps=3 verified=yes"
    ARGS --version ${version} --steps 3 --soup-share 0)
  sample_runs(game_of_life ${version}_no_step RELEASE LAST "${life} alive=24507 candidates=40017 steps=0 verified=yes" ARGS --version ${version} --steps 0)
endforeach()
sample_runs(game_of_life no_atomics64 RELEASE LAST "game_of_life: version=objects alive=2074 candidates=5921 steps=40 verified=yes"
  ARGS ${small} --steps 40 "--build-options=-DKMA_HAS_ATOMIC64=0")
sample_runs(game_of_life debug RELEASE LAST "game_of_life: version=objects alive=2074 candidates=5921 steps=40 verified=yes"
  ARGS ${small} --steps 40 --debug)
sample_runs(game_of_life pictures LONG LAST "game_of_life: version=objects alive=174 candidates=621 steps=60 verified=yes"
  ARGS ${small} --pattern guns --guns 3 --steps 60 --frames ${here}/frames --frame-steps 30 --curve ${here}/curve.csv)
sample_fails(game_of_life too_small MATCH "^game_of_life: a world of 1000 bytes is too small: .* need [0-9]+" ARGS --bytes 1000)
sample_fails(game_of_life full_at_first MATCH "^game_of_life: at the beginning [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS ${small} --bytes 200000)
sample_fails(game_of_life full MATCH "^game_of_life: in the end [0-9]+ objects were not created for want of memory; give more by --bytes"
  ARGS ${small} --bytes 137000 --steps 300 --pattern ${here}/r-pentomino.cells)
sample_fails(game_of_life stops_when_full MATCH "^game_of_life: after step [0-9]+ [0-9]+ objects were not created"
  ARGS ${small} --bytes 137000 --steps 300 --pattern ${here}/r-pentomino.cells --stop-when-full)
sample_fails(game_of_life other_rule MATCH "highlife.rle:1: the pattern's rule is 'B36/S23', and this is Conway's game, B3/S23"
  ARGS --pattern ${here}/highlife.rle)
sample_fails(game_of_life no_pattern MATCH "headless.rle:1: 'b' is no part of a pattern, which has . and O" ARGS --pattern ${here}/headless.rle)
sample_fails(game_of_life nobody_in_pattern MATCH "dead.rle: no cell lives in this pattern" ARGS --pattern ${here}/dead.rle)
sample_fails(game_of_life large_pattern MATCH "glider.rle:3: the pattern is larger than 2 x 256 cells" ARGS --width 2 --pattern ${here}/glider.rle)
sample_fails(game_of_life missing_pattern MATCH "missing.rle: cannot be opened" ARGS --pattern ${here}/missing.rle)
sample_fails(game_of_life many_guns MATCH "--guns 4 is too much for 201 x 80 cells: 3 is the most" ARGS ${small} --pattern guns --guns 4)

# Agents that move in memory, too.
sample_runs(game_of_life defragmented LONG LAST "game_of_life: version=objects alive=2074 candidates=5921 steps=40 verified=yes" MATCH "kma_world_move_kernel"
  ARGS ${small} --steps 40 --defragment-when 0.05)
