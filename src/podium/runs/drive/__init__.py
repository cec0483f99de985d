"""Carries experiments out: the driver, its worker processes and the executors that start them."""
