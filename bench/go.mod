module github.com/pawl-hooks/pawl/bench

go 1.26.0

require github.com/pawl-hooks/pawl v0.0.0

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

replace github.com/pawl-hooks/pawl => ../
