"""Execution of experiments: the driver, its worker processes and the executors that start them."""
