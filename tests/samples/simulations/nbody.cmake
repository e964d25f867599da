# n-body.
foreach(version IN ITEMS objects arrays pointers)
  sample_runs(nbody ${version} LAST "nbody: version=${version} bodies=2000 steps=10 verified=yes" ARGS --version ${version})
endforeach()
sample_runs(nbody one RELEASE LAST "nbody: version=objects bodies=1 steps=3 verified=yes" ARGS --bodies 1 --steps 3)
sample_runs(nbody dense RELEASE LAST "nbody: version=objects bodies=500 steps=40 verified=yes" ARGS --bodies 500 --steps 40 --gravity 1e-7)
sample_fails(nbody too_small MATCH "^nbody: a world of 1000 bytes is too small" ARGS --bytes 1000)
