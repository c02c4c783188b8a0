package main

import (
	"github.com/alecthomas/kong"

	"github.com/pawl-hooks/pawl/internal/jsonline"
)

const about = `Try the hooks of an agent runtime without the agent.

A hook is a program that a project runs at a moment of an agent's session: before a tool call, after a
write, before the first turn. Hooks are written in a file; pawl says what is wrong with it (check), what
is in it (list), what it would do about an event (explain), and does it (fire).

  pawl check hooks.toml
  echo '{"trigger":"tool.before","tool":"write_file"}' | pawl fire --config hooks.toml --event -

Exit codes: 0 pass, allow, clean; 1 something to mend in the command line, a file or the event; 2 a fault
of pawl or its log; 3 refuse or halt, or a log that does not verify; 4 ask.`

// cli is the command line.
type cli struct {
	JSON    bool             `name:"json" help:"Print JSON."`
	Version kong.VersionFlag `help:"Print the version and exit."`

	Check      checkCmd      `cmd:"" help:"Say everything that is wrong with hooks files."`
	List       listCmd       `cmd:"" help:"List every hook found, and where."`
	Explain    explainCmd    `cmd:"" help:"Say what each hook would do about an event, and why."`
	Fire       fireCmd       `cmd:"" help:"Run the hooks that match an event and print what came of it."`
	Trust      trustCmd      `cmd:"" help:"Show and change which hooks may run."`
	Import     importCmd     `cmd:"" help:"Make a native file of a host's hooks file, and say what was lost."`
	Log        logCmd        `cmd:"" help:"Show, verify, replay or count a log of records."`
	Schema     schemaCmd     `cmd:"" help:"Print the JSON Schema of the native file, or the trigger table."`
	Completion completionCmd `cmd:"" help:"Print a script that teaches your shell these commands."`
}

// printJSON prints one value and ends the line. What is shown of a command or a text stays readable.
func (a *app) printJSON(v any) error {
	text, err := jsonline.Marshal(v)
	if err == nil {
		_, err = a.out.Write(append(text, '\n'))
	}
	if err != nil {
		return fault(err)
	}
	return nil
}
