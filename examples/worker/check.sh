#!/bin/sh
check() {
	echo "asked about $1" >&2
	case $1 in
	*'rm -rf'*) echo '{"verdict":"refuse","reason":"whole trees stay"}' ;;
	esac
}

. "$(dirname "$0")/pawl-worker.sh"
