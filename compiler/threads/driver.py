"""The native side of running: a driver of many kernels and the workers that help it, as LLVM IR.

A caller hands `run` an array of steps. Each is a thunk (`llvm/thunk.py`), the offset of its
arguments, and how many tasks it has; a step is over before the next one begins. A step of one
task runs on the calling thread, with nothing shared. One of several is published in a pool:

    word = step number << 32 | high << 16 | low        the tasks not taken are low … high - 1

Caller and workers take a task by compare-and-swap: the caller the lowest, so that it gets the same
part of every kernel, a worker the highest. If a worker is late, the step number makes its swap
fail, so it never runs a task of a step that it did not read. Each finished task adds 1 to `done`.
The caller waits until all are done, so a step does not change while a worker reads it.

A pool serves one caller at a time (`busy`). Other callers, and a caller inside a task, run all
tasks of their step themselves. So does a caller in a process without workers, and nothing waits for
work that no thread does.

A worker that finds nothing pauses `spins` times, then sleeps on a condition. It says so in
`sleepers` before it looks for the last time; a caller publishes before it reads `sleepers`; both in
one total order, so one of them sees the other. `stop` ends a worker.
"""

from compiler.machines.processors import is_arm, is_x86
from compiler.machines.system import MOST_BYTES

POOL_BYTES = 1024
SPINS, MUTEX, CONDITION = 528, 640, 768
"""The offsets of these in a pool, in bytes; mutex and condition have `MOST_BYTES` for what a system
puts there."""
assert MUTEX + MOST_BYTES == CONDITION and CONDITION + MOST_BYTES <= POOL_BYTES
STEP_BYTES = 40
"""thunk, offset of the arguments, tasks, number of the first one, most threads."""
MOST_TASKS = 2**16 - 1
"""The most tasks of one step: the greatest number that `low` and `high` hold."""
MOST_WORKERS = 255


X86, ARM = "x86", "arm"
PAUSES = {
    X86: ("call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()"),
    ARM: ("call void @llvm.aarch64.isb(i32 15)", "declare void @llvm.aarch64.isb(i32 immarg)"),
}
"""The pause instruction of spin loops: AArch64's `yield` takes no time on most processors, so that
such a loop would only load their memory; an `isb` takes about as long as x86's `pause`, by
published measurements."""


def source(family: str | None = None) -> str:
    """The module, for a family of processors; this host's unless one is named."""
    host = X86 if is_x86() else ARM if is_arm() else ""
    pause, declaration = PAUSES.get(host if family is None else family, ("fence seq_cst", ""))
    return f"{_TEXT.replace('PAUSE', pause)}{declaration}\n"


_TEXT = """
%step = type { ptr, i64, i64, i64, i64 }
; what is written often has a cache line of its own, and the one that is fetched with it
%pool = type {
  i64, [120 x i8],                             ; 0, 1: word
  i64, [120 x i8],                             ; 2, 3: done
  ptr, ptr, i64, i64, ptr, i64, [80 x i8],     ; 4 … 10: the step published
  i64, [120 x i8],                             ; 11, 12: busy
  i64, i64, i64, [104 x i8],                   ; 13 … 16: sleepers, stop, spins
  [128 x i8], [128 x i8]                       ; 17, 18: mutex, condition
}

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()

define void @sv.pause(i64 %times) nounwind {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  PAUSE
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %again, label %exit
exit:
  ret void
}

; one task of the step published: the caller's from the low end, a worker's from the high end
define internal void @task(ptr %pool, i64 %number, i64 %thread) nounwind {
  %p.thunk = getelementptr %pool, ptr %pool, i64 0, i32 4
  %p.args = getelementptr %pool, ptr %pool, i64 0, i32 5
  %p.first = getelementptr %pool, ptr %pool, i64 0, i32 6
  %p.scratch = getelementptr %pool, ptr %pool, i64 0, i32 8
  %p.stride = getelementptr %pool, ptr %pool, i64 0, i32 9
  %thunk = load ptr, ptr %p.thunk
  %args = load ptr, ptr %p.args
  %first = load i64, ptr %p.first
  %scratch = load ptr, ptr %p.scratch
  %stride = load i64, ptr %p.stride
  %core = add i64 %first, %number
  %offset = mul i64 %thread, %stride
  %own = getelementptr i8, ptr %scratch, i64 %offset
  call void %thunk(ptr %args, i64 %core, ptr %own)
  %p.done = getelementptr %pool, ptr %pool, i64 0, i32 2
  %was = atomicrmw add ptr %p.done, i64 1 release
  ret void
}

; whether there is work for a worker, which has number %thread
define internal i1 @waits(ptr %pool, i64 %word, i64 %thread) nounwind {
  %low = and i64 %word, 65535
  %shifted = lshr i64 %word, 16
  %high = and i64 %shifted, 65535
  %some = icmp ult i64 %low, %high
  %p.width = getelementptr %pool, ptr %pool, i64 0, i32 7
  %width = load atomic i64, ptr %p.width monotonic, align 8
  %mine = icmp slt i64 %thread, %width
  %both = and i1 %some, %mine
  ret i1 %both
}

define internal void @wake(ptr %pool) nounwind {
  %p.mutex = getelementptr %pool, ptr %pool, i64 0, i32 17
  %p.condition = getelementptr %pool, ptr %pool, i64 0, i32 18
  %locked = call i32 @pthread_mutex_lock(ptr %p.mutex)
  %woken = call i32 @pthread_cond_broadcast(ptr %p.condition)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %p.mutex)
  ret void
}

; end the workers
define void @sv.stop(ptr %pool) nounwind {
  %p.stop = getelementptr %pool, ptr %pool, i64 0, i32 14
  store atomic i64 1, ptr %p.stop seq_cst, align 8
  call void @wake(ptr %pool)
  ret void
}

; run by the thread of a worker; %cell holds the pool and the number of the thread
define ptr @sv.worker(ptr %cell) nounwind {
entry:
  %pool = load ptr, ptr %cell
  %p.thread = getelementptr i64, ptr %cell, i64 1
  %thread = load i64, ptr %p.thread
  %p.stop = getelementptr %pool, ptr %pool, i64 0, i32 14
  %p.spins = getelementptr %pool, ptr %pool, i64 0, i32 15
  %p.sleepers = getelementptr %pool, ptr %pool, i64 0, i32 13
  %p.mutex = getelementptr %pool, ptr %pool, i64 0, i32 17
  %p.condition = getelementptr %pool, ptr %pool, i64 0, i32 18
  %spins = load i64, ptr %p.spins
  br label %look
look:
  %spun = phi i64 [ 0, %entry ], [ 0, %took ], [ %spun, %missed ], [ %more, %spin ], [ 0, %awake ]
  %word = load atomic i64, ptr %pool seq_cst, align 8
  %work = call i1 @waits(ptr %pool, i64 %word, i64 %thread)
  br i1 %work, label %take, label %idle
take:
  %taken = sub i64 %word, 65536
  %pair = cmpxchg ptr %pool, i64 %word, i64 %taken acq_rel monotonic
  %is.mine = extractvalue { i64, i1 } %pair, 1
  br i1 %is.mine, label %took, label %missed
missed:
  br label %look
took:
  %shifted = lshr i64 %taken, 16
  %number = and i64 %shifted, 65535
  call void @task(ptr %pool, i64 %number, i64 %thread)
  br label %look
idle:
  %stop = load atomic i64, ptr %p.stop monotonic, align 8
  %is.over = icmp ne i64 %stop, 0
  br i1 %is.over, label %end, label %still
still:
  %is.tired = icmp sge i64 %spun, %spins
  br i1 %is.tired, label %sleep, label %spin
spin:
  PAUSE
  %more = add i64 %spun, 1
  br label %look
sleep:
  %locked = call i32 @pthread_mutex_lock(ptr %p.mutex)
  %before = atomicrmw add ptr %p.sleepers, i64 1 seq_cst
  br label %check
check:
  %again = load atomic i64, ptr %pool seq_cst, align 8
  %is.work = call i1 @waits(ptr %pool, i64 %again, i64 %thread)
  %stops = load atomic i64, ptr %p.stop seq_cst, align 8
  %is.stop = icmp ne i64 %stops, 0
  %is.up = or i1 %is.work, %is.stop
  br i1 %is.up, label %awake, label %wait
wait:
  %waited = call i32 @pthread_cond_wait(ptr %p.condition, ptr %p.mutex)
  br label %check
awake:
  %after = atomicrmw sub ptr %p.sleepers, i64 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr %p.mutex)
  br label %look
end:
  ret ptr null
}

; all tasks of a step, on this thread alone
define internal void @alone(ptr %thunk, ptr %args, i64 %first, i64 %tasks, ptr %scratch) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %tasks
  br i1 %more, label %body, label %exit
body:
  %core = add i64 %first, %i
  call void %thunk(ptr %args, i64 %core, ptr %scratch)
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}

; all tasks of a step, shared with the workers of the pool
define internal void @shared(ptr %pool, ptr %thunk, ptr %args, i64 %first, i64 %tasks, i64 %width,
                             ptr %scratch, i64 %stride) nounwind {
entry:
  %p.done = getelementptr %pool, ptr %pool, i64 0, i32 2
  %p.thunk = getelementptr %pool, ptr %pool, i64 0, i32 4
  %p.args = getelementptr %pool, ptr %pool, i64 0, i32 5
  %p.first = getelementptr %pool, ptr %pool, i64 0, i32 6
  %p.width = getelementptr %pool, ptr %pool, i64 0, i32 7
  %p.scratch = getelementptr %pool, ptr %pool, i64 0, i32 8
  %p.stride = getelementptr %pool, ptr %pool, i64 0, i32 9
  %p.sleepers = getelementptr %pool, ptr %pool, i64 0, i32 13
  store atomic i64 0, ptr %p.done monotonic, align 8
  store ptr %thunk, ptr %p.thunk
  store ptr %args, ptr %p.args
  store i64 %first, ptr %p.first
  store atomic i64 %width, ptr %p.width monotonic, align 8
  store ptr %scratch, ptr %p.scratch
  store i64 %stride, ptr %p.stride
  %old = load atomic i64, ptr %pool monotonic, align 8
  %number = lshr i64 %old, 32
  %next = add i64 %number, 1
  %top = shl i64 %next, 32
  %middle = shl i64 %tasks, 16
  %new = or i64 %top, %middle
  store atomic i64 %new, ptr %pool seq_cst, align 8
  %sleepers = load atomic i64, ptr %p.sleepers seq_cst, align 8
  %is.quiet = icmp eq i64 %sleepers, 0
  br i1 %is.quiet, label %look, label %rouse
rouse:
  call void @wake(ptr %pool)
  br label %look
look:
  %word = load atomic i64, ptr %pool acquire, align 8
  %low = and i64 %word, 65535
  %shifted = lshr i64 %word, 16
  %high = and i64 %shifted, 65535
  %some = icmp ult i64 %low, %high
  br i1 %some, label %take, label %wait
take:
  %taken = add i64 %word, 1
  %pair = cmpxchg ptr %pool, i64 %word, i64 %taken acq_rel monotonic
  %is.mine = extractvalue { i64, i1 } %pair, 1
  br i1 %is.mine, label %took, label %look
took:
  call void @task(ptr %pool, i64 %low, i64 0)
  br label %look
wait:
  %spun = phi i64 [ 0, %look ], [ %more, %pause ], [ %spun, %yield ]
  %done = load atomic i64, ptr %p.done acquire, align 8
  %is.over = icmp eq i64 %done, %tasks
  br i1 %is.over, label %exit, label %still
still:
  ; a worker without a core of its own needs this one
  %is.long = icmp sge i64 %spun, 2000
  br i1 %is.long, label %yield, label %pause
pause:
  PAUSE
  %more = add i64 %spun, 1
  br label %wait
yield:
  %yielded = call i32 @sched_yield()
  br label %wait
exit:
  ret void
}

; run %count steps; a thread's scratch memory begins %stride bytes behind that of the one before
define void @sv.run(ptr %pool, ptr %steps, i64 %count, ptr %args, ptr %scratch, i64 %stride)
    nounwind {
entry:
  %p.busy = getelementptr %pool, ptr %pool, i64 0, i32 11
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %exit
body:
  %p.thunk = getelementptr %step, ptr %steps, i64 %i, i32 0
  %p.offset = getelementptr %step, ptr %steps, i64 %i, i32 1
  %p.tasks = getelementptr %step, ptr %steps, i64 %i, i32 2
  %p.first = getelementptr %step, ptr %steps, i64 %i, i32 3
  %p.width = getelementptr %step, ptr %steps, i64 %i, i32 4
  %thunk = load ptr, ptr %p.thunk
  %offset = load i64, ptr %p.offset
  %tasks = load i64, ptr %p.tasks
  %first = load i64, ptr %p.first
  %width = load i64, ptr %p.width
  %own = getelementptr i8, ptr %args, i64 %offset
  %is.one = icmp eq i64 %tasks, 1
  br i1 %is.one, label %single, label %several
single:
  call void %thunk(ptr %own, i64 %first, ptr %scratch)
  br label %end
several:
  %is.narrow = icmp slt i64 %width, 2
  %is.poolless = icmp eq ptr %pool, null
  %is.lonely = or i1 %is.narrow, %is.poolless
  br i1 %is.lonely, label %serial, label %ask
ask:
  %pair = cmpxchg ptr %p.busy, i64 0, i64 1 acquire monotonic
  %is.free = extractvalue { i64, i1 } %pair, 1
  br i1 %is.free, label %parallel, label %serial
parallel:
  call void @shared(ptr %pool, ptr %thunk, ptr %own, i64 %first, i64 %tasks, i64 %width,
                    ptr %scratch, i64 %stride)
  store atomic i64 0, ptr %p.busy release, align 8
  br label %end
serial:
  call void @alone(ptr %thunk, ptr %own, i64 %first, i64 %tasks, ptr %scratch)
  br label %end
end:
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}

; a thunk that copies: %args holds where to, from where, and how many bytes
define void @sv.copy(ptr %args, i64 %number, ptr %scratch) nounwind {
  %p.from = getelementptr i8, ptr %args, i64 8
  %p.size = getelementptr i8, ptr %args, i64 16
  %to = load ptr, ptr %args
  %from = load ptr, ptr %p.from
  %size = load i64, ptr %p.size
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

; a thunk that marks the end: the word at %args is 1 once all steps before this one are done
define void @sv.mark(ptr %args, i64 %number, ptr %scratch) nounwind {
  store atomic i64 1, ptr %args release, align 8
  ret void
}

; a thunk whose tasks are kernels: %args holds the thunk and the arguments of each
define void @sv.each(ptr %args, i64 %number, ptr %scratch) nounwind {
  %place = mul i64 %number, 16
  %p.thunk = getelementptr i8, ptr %args, i64 %place
  %p.args = getelementptr i8, ptr %p.thunk, i64 8
  %thunk = load ptr, ptr %p.thunk
  %own = load ptr, ptr %p.args
  call void %thunk(ptr %own, i64 0, ptr %scratch)
  ret void
}
"""
