"""Lets a hook written in Python stay alive between events (keep = true), or answer just one.

    from pawl_worker import serve
    serve(check)  # check takes an event, a dict, and returns an answer, a dict, or None to pass
"""
import json
import os
import sys


def serve(check):
    answers, sys.stdout = sys.stdout, sys.stderr  # what a check prints is for people
    if "PAWL_WORKER" in os.environ:
        print('{"pawl":"worker","version":1}', file=answers, flush=True)
    for line in sys.stdin.buffer:
        print(json.dumps(check(json.loads(line)) or {}), file=answers, flush=True)
