package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// options are what the command line asks for.
type options struct {
	quick, bare               bool
	out, plots, only, profile string
}

func (o *options) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.quick, "quick", false, "fewer rounds: under a minute")
	flags.StringVar(&o.out, "json", "", "write the figures to this file too")
	flags.StringVar(&o.plots, "plots", "", "draw the two plots into this folder; it is made if need be")
	flags.BoolVar(&o.bare, "bare", false, "a hook without a C library, whose own start takes little (amd64)")
	flags.StringVar(&o.only, "only", "", "one goal: P6")
	flags.StringVar(&o.profile, "cpuprofile", "", "write where the time goes to this file, for go tool pprof")
}

// check says what cannot be done, before anything is measured: args are what stands behind the flags.
func (o *options) check(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: all that is asked for is asked by flags", args[0])
	}
	if err := o.checkGoal(); err != nil {
		return err
	}
	files := []string{o.out, o.profile}
	if o.plots != "" {
		if err := os.MkdirAll(o.plots, 0o755); err != nil {
			return err
		}
		for _, name := range plotNames {
			files = append(files, filepath.Join(o.plots, name))
		}
	}
	for _, file := range files {
		if err := writable(file); err != nil {
			return err
		}
	}
	return nil
}

// checkGoal takes p6 for P6.
func (o *options) checkGoal() error {
	var names []string
	for _, g := range goals() {
		if strings.EqualFold(g.name, o.only) {
			o.only = g.name
			return nil
		}
		names = append(names, g.name)
	}
	if o.only == "" {
		return nil
	}
	return fmt.Errorf("no goal %q: there are %s", o.only, strings.Join(names, ", "))
}

// writable reports why a file could not be written. It leaves things as they were.
func writable(path string) error {
	if path == "" {
		return nil
	}
	_, missing := os.Lstat(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}
