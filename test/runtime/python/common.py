"""What the tests of the Python package share."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def qmc():
    return os.environ["QM_QMC"]


class Process:
    """A program that ran: status, out, err. It must succeed unless `check` is False."""

    def __init__(self, *command, check=True, **options):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        if check and done.returncode:
            raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def run_python(text, check=True, **environment):
    """Runs a program in a process of its own."""
    return Process(sys.executable, "-c", text, check=check, env={**os.environ, **environment})
