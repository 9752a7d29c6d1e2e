"""From lowered programs to LLVM IR text and machine code."""
