package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systemReads are the parts of the system that programs need. What /etc has beside is no
// image's business: it has keys, and the hashes of passwords.
var systemReads = append([]string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store", "/run/current-system", "/opt/homebrew", "/opt/local",
	"/sys/devices/system/cpu",
}, etcReads()...)

func etcReads() (paths []string) {
	for name := range strings.FieldsSeq(`alternatives bash.bashrc ca-certificates ca-certificates.conf common-lisp
		debian_version emacs environment fonts gai.conf group host.conf hostname hosts inputrc ld.so.cache ld.so.conf
		ld.so.conf.d locale.alias locale.conf localtime magic mime.types nsswitch.conf os-release passwd perl pki/tls/certs
		profile profile.d protocols resolv.conf sbclrc services shells ssl/certs ssl/openssl.cnf terminfo timezone`) {
		paths = append(paths, "/etc/"+name)
	}
	return paths
}

// secrets are what no session may read, whoever says that it may.
func secrets(home string) (paths []string) {
	if home != "" {
		for name := range strings.FieldsSeq(`.ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .npmrc .pypirc .pgpass
			.password-store .mozilla .thunderbird .config/gcloud .config/gh .config/google-chrome .config/chromium
			.local/share/keyrings .local/share/gnome-keyring`) {
			paths = append(paths, filepath.Join(home, name))
		}
	}
	return append(paths, "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private")
}

// homeReads are what Lisp reads in a home: the init file, and where libraries are. What lies
// in the directories writes code of a session may have put there: it leads nowhere.
func homeReads(writes []string) (paths []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	for name := range strings.FieldsSeq(`.sbclrc quicklisp .quicklisp common-lisp .local/share/common-lisp .config/common-lisp
		.local/share/ocicl .roswell/lisp .roswell/impls`) {
		paths = append(paths, filepath.Join(home, name))
	}
	// Links in them lead to the sources of libraries elsewhere.
	for _, pattern := range []string{"common-lisp/*", "quicklisp/local-projects/*", ".local/share/common-lisp/source/*"} {
		links, _ := filepath.Glob(filepath.Join(home, pattern))
		for _, link := range links {
			if real, err := filepath.EvalSymlinks(link); err == nil && real != link && secretIn(real) == "" && !inAny(link, writes) {
				paths = append(paths, real)
			}
		}
	}
	return paths
}

var lispText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// inAny reports whether path is in one of dirs, as it is named, where it stands, or where it leads.
func inAny(path string, dirs []string) bool {
	names := []string{filepath.Clean(path)}
	for _, name := range []string{path, filepath.Dir(path)} {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			names = append(names, real)
		}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return slices.ContainsFunc(names, func(name string) bool {
			return within(name, filepath.Clean(dir)) || err == nil && within(name, real)
		})
	})
}

// registryReads are the directories that ASDF is told of, where they hold no secret. What is
// said in the directories writes does not count.
func registryReads(writes []string) (paths []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var texts []string
	for _, dir := range []string{filepath.Join(home, ".config/common-lisp"), "/etc/common-lisp"} {
		for _, pattern := range []string{"source-registry.conf", "source-registry.conf.d/*.conf"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, file := range files {
				if inAny(file, writes) {
					continue
				}
				text, _ := os.ReadFile(file)
				for _, match := range lispText.FindAllSubmatch(text, -1) {
					texts = append(texts, string(match[1]))
				}
			}
		}
	}
	for _, name := range []string{"CL_SOURCE_REGISTRY", "SBCL_HOME"} {
		texts = append(texts, filepath.SplitList(os.Getenv(name))...)
	}
	for _, text := range texts {
		path := strings.TrimRight(strings.ReplaceAll(text, `\`, ""), "/*")
		if rest, ok := strings.CutPrefix(path, "~/"); ok || path != "" && !filepath.IsAbs(path) {
			path = filepath.Join(home, rest)
			if !ok {
				path = filepath.Join(home, strings.ReplaceAll(text, `\`, ""))
			}
		}
		if filepath.IsAbs(path) && secretIn(path) == "" {
			paths = append(paths, path)
		}
	}
	return paths
}
