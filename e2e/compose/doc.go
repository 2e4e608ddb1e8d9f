// Package compose holds the end-to-end tests of docker-compose.yml. Those that need
// its containers are built with the tag compose only, and run by
// scripts/compose-test: TestAttached in the service e2e, beside the image;
// TestService outside, through the service bridge. TestConfiguration needs none.
package compose
