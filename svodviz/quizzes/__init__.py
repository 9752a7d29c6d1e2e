"""Predict, then reveal: questions about a compilation.

In order: each imports only what stands before it.

    questions.py           a question, with its answer and its explanation
    drafts.py              what a template proposes to ask, and whether it makes a fair question
    graph_questions.py     on the tensor graph and its passes: shapes, rules, what is stored
    schedule_questions.py  on the schedule: what may run at once, what takes longest, memory
    loop_questions.py      on loops: how often, what cutting gives, lines and instructions
    pose.py                the templates, and the questions about a compilation made by them
    results.py             a row for each question, as CSV, as JSON, and of a whole class
    quiz.py                predict, then reveal: questions in words and as a widget
"""
