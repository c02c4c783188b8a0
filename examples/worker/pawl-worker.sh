# Lets a hook written for the shell stay alive between events (keep = true), or answer just one. Source it behind
# a function check, which gets an event, one line of JSON, as $1 and prints an answer on one line, or nothing to
# pass. Where check fails the hook does.
if [ -n "$PAWL_WORKER" ]; then echo '{"pawl":"worker","version":1,"echo":true}'; fi
while IFS= read -r event || [ -n "$event" ]; do
	if [ -n "$PAWL_WORKER" ]; then mark="${event%% *} " event=${event#* }; else mark=; fi
	answer=$(check "$event" </dev/null) || exit
	printf '%s\n' "$mark${answer:-"{}"}"
done
