"""Linear algebra for all learners: LAPACK without Python's lock, BLAS threads, ties, growing arrays, half precision."""
