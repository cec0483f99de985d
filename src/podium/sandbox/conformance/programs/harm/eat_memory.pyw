# Takes memory until it is stopped.
kept = []
while True:
    kept.append(bytearray(b"x" * 8_000_000))
