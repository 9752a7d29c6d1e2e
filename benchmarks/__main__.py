"""`python -m benchmarks`: every measurement of this folder, printed as tables."""

from benchmarks import cold_compile, predicted, variables

if __name__ == "__main__":
    cold_compile.main()
    variables.main()
    predicted.main()
