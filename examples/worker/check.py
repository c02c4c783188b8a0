from pawl_worker import serve


def check(event):
    print("asked about", event["call"])
    if "rm -rf" in event.get("input", {}).get("command", ""):
        return {"verdict": "refuse", "reason": "whole trees stay"}


serve(check)
