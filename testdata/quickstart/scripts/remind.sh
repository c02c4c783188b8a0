# Told to the agent before it writes a file. Called as: remind.sh --tool write_file --action call.write_file
while [ $# -gt 1 ]; do
	case $1 in
	--tool) tool=$2 ;;
	--action) action=$2 ;;
	esac
	shift 2
done
echo "$tool is gated as $action. House rule: exported names carry a comment."
