# Leaves a child behind that computes for ever and has a timer continue it whenever it is stopped.
import ctypes
import os
import signal

read, write = os.pipe()
if os.fork():
    os.close(write)
    os.read(read, 1)  # until the timer runs
    os._exit(0)
for descriptor in (0, 1, 2):
    os.close(descriptor)
signal.signal(signal.SIGCONT, lambda *_: None)  # the timer of an ignored signal goes off only once
libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)  # struct sigevent: value, signal, SIGEV_SIGNAL
every = (ctypes.c_long * 4)(0, 50_000_000, 0, 50_000_000)  # 50 ms
libc.timer_create(1, event, ctypes.byref(timer))
libc.timer_settime(timer, 0, every, None)
os.close(write)
while True:
    pass
