package launch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"swank-mcp/swank/lisp/host"
)

// saveCommand is what a copy gets to save a core.
type saveCommand struct {
	Number int    `sexp:"number"`
	Save   string `sexp:"save"`
	Bridge int    `sexp:"bridge"` // our process, with which it ends
}

// heapStatus is what the process that saves itself says before: what its heap has in use,
// in bytes, without garbage. It goes on when it is told to.
type heapStatus struct {
	Bytes int64 `sexp:"bytes"`
	Later []struct {
		_         struct{} `sexp:",list"`
		Session   string
		Variables []string `sexp:",rest"`
	} `sexp:"later"` // those whose values the source of the session does not have
}

// SavedCore is a core that was saved.
type SavedCore struct {
	Checksum uint32
	Size     int64               // bytes
	Later    map[string][]string // by session, the first of the variables whose values its source does not have
}

type proceed struct {
	Proceed bool `sexp:"proceed"`
}

// saveRoom is how much a core is larger than what its heap has in use: SBCL's own code and
// symbols, which are not in the heap, and tables; with some to spare.
const saveRoom = 32 << 20

// NoRoomError says that a disk has not enough room for a core.
type NoRoomError struct {
	Dir        string
	Need, Free int64 // bytes
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("the core needs some %d MiB, and the disk of %s has %d MiB left", e.Need>>20, e.Dir, e.Free>>20)
}

var errNoSaver = errors.New("the process that was to save the core did not call")

// Save saves a core that [Resume] takes to a new file, whose directory is there, and which open
// opens then. The copy stays as it is; another one saves
// itself, with a lower priority if it is not urgent. When Save returns without an error,
// the core was written to the disk as a whole. After an error, the file may be there. The
// error may be a [*NoRoomError].
func (c *Copy) Save(ctx context.Context, file string, open func() (*os.File, error), urgent bool) (*SavedCore, error) {
	a := c.line.calls.expect(false)
	if err := c.peer.tell(saveCommand{a.key.number, file, os.Getpid()}); err != nil {
		c.line.calls.forget(a)
		return nil, fmt.Errorf("%w: %w", errNoCopy, err)
	}
	saver, err := c.called(ctx, a, helloTime+collectTime, errNoSaver)
	if err != nil {
		return nil, err
	}
	defer func() {
		host.KillGroup(saver.child)
		<-saver.done
	}()
	defer context.AfterFunc(ctx, func() { host.KillGroup(saver.child) })()
	if !urgent {
		lowerPriority(saver.child.Pid)
	}
	dir := filepath.Dir(file)
	need := saver.heap.Bytes + saveRoom
	if free, ok := freeBytes(dir); ok && free < need {
		return nil, &NoRoomError{dir, need, free}
	}
	if err := saver.tell(proceed{true}); err == nil {
		<-saver.done
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if saver.state != nil && !saver.state.Success() {
		if free, ok := freeBytes(dir); ok && free < saveRoom {
			return nil, &NoRoomError{dir, need, free}
		}
		return nil, fmt.Errorf("the process that saved the core has ended with %v", saver.state)
	}
	core, err := new(SavedCore), error(nil)
	if core.Checksum, core.Size, err = finishCore(open); err != nil {
		return nil, err
	}
	for _, of := range saver.heap.Later {
		if core.Later == nil {
			core.Later = map[string][]string{}
		}
		core.Later[of.Session] = of.Variables
	}
	return core, nil
}

// coreEnd is how SBCL ends a core.
var coreEnd = binary.LittleEndian.AppendUint64(nil, coreMagic)

// finishCore seals a core that was saved, which open opens to be read and appended to, and has the
// system write it to the disk.
func finishCore(open func() (*os.File, error)) (sum uint32, size int64, err error) {
	file, err := open()
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	end := make([]byte, len(coreEnd))
	if _, err := file.Seek(-int64(len(end)), io.SeekEnd); err != nil {
		return 0, 0, errDamagedCore
	}
	if _, err := io.ReadFull(file, end); err != nil || !bytes.Equal(end, coreEnd) {
		return 0, 0, errors.New("the core was not written to its end")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, 0, err
	}
	if sum, err = sealFile(file); err != nil {
		return 0, 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	return sum, info.Size(), nil
}
