# Reads the event on stdin; exit 2 refuses, with what stderr says.
if grep -q 'push --force'; then
	echo 'History is not rewritten here: push to a branch.' >&2
	exit 2
fi
