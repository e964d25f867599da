// Only there so that the precompiled header of the threads has a target of its own.
