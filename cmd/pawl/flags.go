package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pawl-hooks/pawl/config"
)

// blank is an error where something on the command line is given and empty: most likely a variable that is not set,
// and without what it should have named less would be checked.
func blank(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		var name string
		var value any
		switch {
		case p.Flag != nil:
			name, value = "--"+p.Flag.Name, ctx.FlagValue(p.Flag)
		case p.Positional != nil:
			name, value = "<"+p.Positional.Name+">", p.Positional.Target.Interface()
		}
		if many, ok := value.([]string); value == "" || ok && slices.Contains(many, "") {
			return fmt.Errorf("%s is empty: leave it out, or write what it names", name)
		}
	}
	return nil
}

// flagged says what is wrong with options by the flags that they were given by.
func flagged(err error) error {
	flags := map[string]string{"Root": "--root", "System": "--system", "Plugins": "--plugin", "project": "--project"}
	var errs []error
	for _, e := range flatten(err) {
		var option *config.OptionError
		switch {
		case !errors.As(e, &option):
			errs = append(errs, e)
		case option.Field == "Home": // of --home that is said already
			errs = append(errs, fmt.Errorf("%w: give --home DIR", option.Err))
		default:
			errs = append(errs, fmt.Errorf("%s %s %w", cmp.Or(flags[option.Field], option.Field), option.Value, option.Err))
		}
	}
	return errors.Join(errs...)
}
