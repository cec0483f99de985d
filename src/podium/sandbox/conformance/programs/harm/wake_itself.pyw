# Leaves a child behind that computes for ever and has timers continue it whenever it is stopped.
import ctypes
import os
import signal

read, write = os.pipe()
if os.fork():
    os.close(write)
    os.read(read, 1)  # until the timers run
    os._exit(0)
for descriptor in (0, 1, 2):
    os.close(descriptor)
signal.signal(signal.SIGCONT, lambda *_: None)  # the timer of an ignored signal goes off only once
libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)  # struct sigevent: value, signal, SIGEV_SIGNAL
for number in range(8):  # one whose signal waits when the process is stopped goes off no more
    every = (ctypes.c_long * 4)(0, 20_000_000, 0, 50_000_000 * (number + 1))  # struct itimerspec
    libc.timer_create(1, event, ctypes.byref(timer))
    libc.timer_settime(timer, 0, every, None)
os.close(write)
while True:
    pass
