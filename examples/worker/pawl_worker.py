"""Lets a hook written in Python stay alive between events (keep = true), or answer just one.

    from pawl_worker import serve
    serve(check)  # check takes an event, a dict, and returns an answer, a dict, or None to pass
"""
import json
import os
import sys


def serve(check):
    answers, sys.stdout = sys.stdout, sys.stderr  # what a check prints is for people
    kept = "PAWL_WORKER" in os.environ
    if kept:
        print('{"pawl":"worker","version":1,"echo":true}', file=answers, flush=True)
    for line in sys.stdin.buffer:
        mark, space, event = line.partition(b" ") if kept else (b"", b"", line)
        answer = json.dumps(check(json.loads(event)) or {})
        print((mark + space).decode() + answer, file=answers, flush=True)
