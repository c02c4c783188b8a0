# Reads the event on stdin and answers in JSON.
cat >/dev/null
echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"The build takes a minute; do not start it twice."}}'
