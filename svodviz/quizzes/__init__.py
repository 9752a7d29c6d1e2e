"""Predict, then reveal: questions about a compilation.

In order: each imports only what stands before it.

    questions.py  a question about a compilation, with its answer and what is to be learned from it
    pose.py       questions about a compilation, made from what it has recorded
    quiz.py       predict, then reveal: questions about a compilation, in words and as a widget
"""
