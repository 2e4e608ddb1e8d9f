package lisp

import (
	"context"
	"slices"
	"sync"

	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/project"
)

// workplace is the project that the sessions of an image work for.
type workplace struct {
	mu    sync.Mutex
	dirs  []string
	found *project.Project // what was found last; nil: nothing was looked for
}

// WorkIn names the directories, absolute paths, of the project that the sessions work
// for: its systems are found before installed ones of the same name. None is no project.
func (im *Image) WorkIn(dirs ...string) {
	im.cfg.Trees.Add(dirs...)
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	im.workplace.dirs, im.workplace.found = dirs, nil
}

// Trees returns those of [Config], which are never nil here.
func (im *Image) Trees() *files.Trees { return im.cfg.Trees }

// WorksIn returns the directories that [Image.WorkIn] has named.
func (im *Image) WorksIn() []string {
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	return slices.Clone(im.workplace.dirs)
}

// Project returns what was found of the project last, looking for it the first time. If ctx
// ends meanwhile, that is only a part.
func (im *Image) Project(ctx context.Context) *project.Project {
	im.workplace.mu.Lock()
	found := im.workplace.found
	im.workplace.mu.Unlock()
	if found != nil {
		return found
	}
	return im.findProject(ctx)
}

// findProject looks for the project, and returns what it has found. It keeps that, if it is
// the whole.
func (im *Image) findProject(ctx context.Context) *project.Project {
	dirs := im.WorksIn()
	found := project.Find(ctx, im.cfg.Trees, dirs...)
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	switch {
	case ctx.Err() == nil && slices.Equal(dirs, im.workplace.dirs):
		im.workplace.found = found
	case im.workplace.found != nil:
		return im.workplace.found
	}
	return found
}

// lookAtProject looks for the project's definitions again, before a call that may name
// one that has been written since, and tells the running image if they are other ones. An
// image that starts is told then.
func (im *Image) lookAtProject(ctx context.Context) {
	im.findProject(ctx)
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst != nil {
		im.tellOfProject(ctx, inst)
	}
}

// tellOfProject tells inst where the project's systems are defined, if it does not know.
// An image that does not answer is told before the next such call.
func (im *Image) tellOfProject(ctx context.Context, inst *instance) {
	found := im.Project(ctx)
	known := inst.project.Load()
	if known == nil && len(found.Dirs) == 0 || known != nil && known.Equal(found) {
		return
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	call := helper.NewCall("KNOW-PROJECT")
	call.Quote(len(found.Dirs), func(i int) { call.Str(found.Dirs[i]) }).Num(int64(len(found.Definitions)))
	for _, file := range found.Files() {
		call.Str(file)
	}
	if _, err := inst.ask(ctx, call); err != nil {
		im.log.Warn("telling the image of the project", "err", err)
		return
	}
	inst.project.Store(found)
}
