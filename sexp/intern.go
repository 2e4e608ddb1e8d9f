package sexp

import "strings"

// knownSymbols holds the symbols that make up most of the traffic as interface
// values that already exist, by spelling.
var knownSymbols = index(strings.Fields(`
	t quote :abort :action :align :background-message :buffer :buffer-and-file :call-site
	:channel-send :coding-systems :compilation-result :content :debug :debug-activate
	:debug-condition :debug-return :designator :ed :edit-path :emacs-channel-send :emacs-interrupt
	:emacs-pong :emacs-reader-error :emacs-return :emacs-return-string :emacs-rex :encoding :error
	:eval :eval-no-wait :features :file :function :function-name :generic-function :hints :id
	:indentation-update :inspect :instance :invalid-channel :invalid-rpc :label :line
	:lisp-implementation :location :machine :macro :message :modules :name :new-features
	:new-package :not-available :not-documented :not-implemented :note :offset :ok
	:open-dedicated-output-stream :package :pid :ping :position :presentation-end
	:presentation-start :program :prompt :read-aborted :read-error :read-from-minibuffer
	:read-string :reader-error :redefinition :references :repl-result :repl-thread :restartable
	:return :setf :severity :snippet :source-context :source-form :spawn :special-operator :style
	:style-warning :test-delay :title :type :value :variable :version :warning :write-image
	:write-string :y-or-n-p :zip
`))

func index(names []string) map[string]any {
	m := make(map[string]any, len(names))
	for _, name := range names {
		m[name] = Symbol(name)
	}
	return m
}

// known returns the Symbol spelled b, or nil if it is not one of the known.
// The compiler looks up string(b) in a map without allocating it.
func known(b []byte) any { return knownSymbols[string(b)] }

// names remembers the symbols of one large input, so that each is allocated
// once. It is direct-mapped: a collision only costs an allocation.
type names [256]any

// cacheFrom is the size of input from which a table of names pays.
const cacheFrom = 4096

// symbol returns the Symbol spelled b as an interface value.
func (d *Decoder) symbol(b []byte) any {
	if v := known(b); v != nil {
		return v
	}
	if len(d.s.buf) < cacheFrom || len(b) > 64 {
		return Symbol(b)
	}
	if d.names == nil {
		d.names = new(names)
	}
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	slot := &d.names[(h^h>>8)%uint32(len(d.names))]
	if s, ok := (*slot).(Symbol); ok && string(s) == string(b) {
		return *slot
	}
	*slot = Symbol(b)
	return *slot
}
