package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// updateLimit is how long a service may take to get another image.
const updateLimit = 5 * time.Minute

// docker runs a command of Docker's and returns what it prints.
func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// killing kills a container of the service each o.every, and returns when.
func killing(ctx context.Context, o options) (kills []time.Time, err error) {
	for {
		select {
		case <-ctx.Done():
			return kills, nil
		case <-time.After(o.every):
		}
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < o.every/2 {
			<-ctx.Done()
			return kills, nil
		}
		ids, err := docker(ctx, "ps", "--quiet", "--no-trunc", "--filter", "label=com.docker.swarm.service.name="+o.kill)
		if err != nil {
			return nil, err
		}
		replicas := strings.Fields(ids)
		if len(replicas) == 0 {
			return nil, fmt.Errorf("the service %s has no container", o.kill)
		}
		one := replicas[len(replicas)-1] // that has run for the longest time
		kills = append(kills, time.Now())
		if _, err := docker(ctx, "kill", "--signal", "KILL", one); err != nil {
			return nil, err
		}
		fmt.Printf("killed %.12s, one of %d\n", one, len(replicas))
	}
}

// settle is for how long the sessions go on working after an update.
const settle = 5 * time.Second

// update gives the service another image, and returns when all replicas have it.
func update(ctx context.Context, o options) error {
	time.Sleep(settle)
	began := time.Now()
	if _, err := docker(ctx, "service", "update", "--quiet", "--no-resolve-image", "--detach", "--image", o.update, o.service); err != nil {
		return err
	}
	for state := "updating"; state != "completed"; time.Sleep(time.Second) {
		out, err := docker(ctx, "service", "inspect", "--format", "{{with .UpdateStatus}}{{.State}}{{end}}", o.service)
		if err != nil {
			return err
		}
		if state = out; state != "" && state != "updating" && state != "completed" {
			return fmt.Errorf("the update is %s", state)
		}
	}
	fmt.Printf("all replicas have %s after %.0f s\n", o.update, time.Since(began).Seconds())
	time.Sleep(settle)
	return nil
}
