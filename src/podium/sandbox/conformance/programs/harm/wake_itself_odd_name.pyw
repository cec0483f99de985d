# The same as wake_itself, which lies beside it, in a process whose name is not UTF-8.
import ctypes
import runpy

ctypes.CDLL(None).prctl(15, b") \xff\n")  # PR_SET_NAME
runpy.run_path("wake_itself.pyw")
