package mcpbridge

import "strings"

// Clients returns the name and version of each client that is connected and has said who
// it is.
func (b *Bridge) Clients() (names []string) {
	for s := range b.server.Sessions() {
		if p := s.InitializeParams(); p != nil && p.ClientInfo != nil {
			names = append(names, clientName(p.ClientInfo.Name, p.ClientInfo.Version))
		}
	}
	return names
}

// clientName is how a client is named in what people see.
func clientName(name, version string) string { return strings.TrimSpace(name + " " + version) }
