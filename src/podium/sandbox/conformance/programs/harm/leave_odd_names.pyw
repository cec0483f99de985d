# Leaves files whose names hold newlines, terminal commands and bytes that are no text.
import os

for top in (b"/tmp", b"/home"):
    for name in (
        b"new\nline",
        b"\x1b[2J\x1b]0;title\x07",
        b"\xff\xfe\xfd",
        b"-rf",
        b" ",
        b"\\",
        b"~",
        b"$(touch planted)",
        b"x" * 255,
        b"...",
    ):
        open(top + b"/" + name, "wb").close()
        os.mkdir(top + b"/" + name[:250] + b".d")
print("left")
