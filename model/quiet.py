"""Keeps TensorFlow's log lines off standard error; everything else passes."""

import atexit
import os
import subprocess
import sys

# Information lines begin with I, month and day. Before the first of them a library writes one line of warning.
# oneDNN writes an error where a processor lacks AVX-512; TensorFlow then computes the same in another way.
_FILTER = r"""
import re, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that writes decides when to end
chatter = re.compile(
    rb"I\d{4} \d\d:\d\d:|WARNING: All log messages before absl::InitializeLog|"
    rb"E\d{4} .*oneDNN supports DT_BOOL only"
)
for line in sys.stdin.buffer:
    if not chatter.match(line):
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
"""


def hide_log_lines() -> None:
    """Filter what this process writes to standard error from now on.

    TF_CPP_MIN_LOG_LEVEL does not stop the lines that TensorFlow writes while it is imported. Another process
    filters them, so that the last words of a crash still arrive.
    """
    sys.stderr.flush()
    outside = os.dup(2)
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", _FILTER], stdin=subprocess.PIPE)
    assert child.stdin, "it is a pipe"
    os.dup2(child.stdin.fileno(), 2)
    child.stdin.close()

    def stop() -> None:
        sys.stderr.flush()
        os.dup2(outside, 2)  # now the filter sees the end of its input
        os.close(outside)  # which may be the input of another filter
        child.wait()

    atexit.register(stop)
