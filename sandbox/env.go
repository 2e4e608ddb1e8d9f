package sandbox

import (
	"slices"
	"strings"
)

// known are the variables of the environment that an image gets; others often are secrets,
// or the addresses of services that hold them.
var known = strings.Fields(`PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLUMNS LINES CC CXX CFLAGS CPPFLAGS LDFLAGS
	LD_LIBRARY_PATH LIBRARY_PATH C_INCLUDE_PATH CPATH PKG_CONFIG_PATH LOCALE_ARCHIVE SOURCE_DATE_EPOCH CL_SOURCE_REGISTRY
	QUICKLISP_HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS NO_COLOR`)

// environment is what of environ an image of p gets.
func environment(environ []string, p *policy) (env []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(known, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "SBCL_") {
			env = append(env, entry)
		}
	}
	// Others put there what they compile, and ASDF does, whatever its configuration says.
	fasls := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Cache + "/common-lisp/")
	env = append(env, "XDG_CACHE_HOME="+p.Cache, "TMPDIR="+p.Temp,
		`ASDF_OUTPUT_TRANSLATIONS=(:output-translations (t ("`+fasls+`" :implementation)) :ignore-inherited-configuration)`)
	if slices.Contains(p.Ports, 53) {
		env = append(env, "RES_OPTIONS=use-vc") // names by TCP, as datagrams are refused
	}
	return env
}
