"""`python -m benchmarks`: every measurement of this folder, printed as tables."""

from benchmarks import cold_compile, predicted

if __name__ == "__main__":
    cold_compile.main()
    predicted.main()
