package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-hooks/pawl"
)

// listCmd lists every hook found.
type listCmd struct {
	sources
}

// Help is shown by pawl list --help.
func (*listCmd) Help() string {
	return `Lists the hooks in the order they are asked, each with where it was written.

  pawl list --config hooks.toml`
}

// A listing is one hook's row.
type listing struct {
	Name      string       `json:"name"`
	Trigger   pawl.Trigger `json:"trigger"`
	Matcher   string       `json:"matcher"`
	Layer     string       `json:"layer"`
	File      string       `json:"file"`
	Line      int          `json:"line"`
	Trust     string       `json:"trust"`
	Enabled   bool         `json:"enabled"`
	Command   string       `json:"command"`
	TimeoutMS int64        `json:"timeout_ms"`
	Digest    string       `json:"digest"`
}

// Run prints a row for each hook.
func (c *listCmd) Run(a *app) error {
	set, err := c.load(a)
	if err != nil {
		return err
	}
	rows := []listing{}
	for i := range set.hooks {
		rows = append(rows, listingOf(&set.hooks[i]))
	}
	if a.json {
		return a.printJSON(rows)
	}
	a.printWarnings(set.warnings)
	t := newTable(a.out)
	t.row("HOOK", "TRIGGER", "MATCHER", "LAYER", "WHERE", "TRUST", "COMMAND")
	for _, r := range rows {
		t.row(r.Name, string(r.Trigger), r.Matcher, r.Layer, fmt.Sprintf("%s:%d", r.File, r.Line), r.Trust, r.Command)
	}
	return t.flush()
}

// listingOf is the row of a hook that may run.
func listingOf(h *pawl.Hook) listing {
	row := listing{
		Name: h.Name, Trigger: h.On, Layer: h.Origin.Layer, File: h.Origin.File, Line: h.Origin.Line,
		Trust: "trusted", Enabled: true, TimeoutMS: timeout(h).Milliseconds(),
	}
	if h.Match != nil {
		row.Matcher = h.Match.String()
	}
	if p, ok := h.Handler.(pawl.Program); ok {
		row.Command, row.Digest = quoted(p.Argv()), p.Digest()
	}
	return row
}

// defaultTimeout is what a program gets where its hook says nothing.
const defaultTimeout = 30 * time.Second

func timeout(h *pawl.Hook) time.Duration {
	if h.Timeout == 0 {
		return defaultTimeout
	}
	return h.Timeout
}

// quoted writes words as a shell would need them: to be read, and pasted.
func quoted(words []string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		if w != "" && strings.IndexFunc(w, special) < 0 {
			parts[i] = w
		} else {
			parts[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(parts, " ")
}

func special(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+", r)
}
