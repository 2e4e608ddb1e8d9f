package launch

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"swank-mcp/internal/files"
)

// A core has a checksum at its end, which SBCL does not look at: a disk that was full,
// or a crash, may leave one of which a part is missing, and which starts all the same.

// sealFormat is the end of a core; it has always the same length.
const sealFormat = "\nswank-mcp %08x\n"

var sealSize = int64(len(fmt.Sprintf(sealFormat, 0)))

var errDamagedCore = errors.New("its contents are not those that were written")

// seal puts the checksum at the end of a core.
func seal(core string) error {
	file, err := os.OpenFile(core, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = sealFile(file)
	return errors.Join(err, file.Close())
}

// sealFile puts the checksum at the end of a core that is open at its beginning.
func sealFile(file *os.File) (sum uint32, err error) {
	if sum, err = checksum(file); err == nil {
		_, err = fmt.Fprintf(file, sealFormat, sum)
	}
	return sum, err
}

func checksum(r io.Reader) (uint32, error) {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err := io.CopyBuffer(h, struct{ io.Reader }{r}, make([]byte, 256<<10))
	return h.Sum32(), err
}

// checkCore begins to check a core, which takes some ten milliseconds, and returns a
// function that waits for the result: an image starts meanwhile. File, if not nil, is the core, open.
func checkCore(core string, file *os.File) (sound func() error) {
	result := make(chan error, 1)
	go func() {
		if file != nil {
			result <- checkSeal(file)
			return
		}
		file, err := files.Open(core, os.O_RDONLY, 0)
		if err == nil {
			defer file.Close()
			err = checkSeal(file)
		}
		result <- err
	}()
	return func() error { return <-result }
}

func checkSeal(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - sealSize
	if size <= 0 {
		return errDamagedCore
	}
	sum, err := checksum(io.NewSectionReader(file, 0, size))
	if err != nil {
		return err
	}
	return sealedWith(file, sum)
}

// sealedWith returns an error if a core does not say that it has that checksum.
func sealedWith(file *os.File, sum uint32) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end := make([]byte, sealSize)
	if _, err := file.ReadAt(end, max(0, info.Size()-sealSize)); err != nil || string(end) != fmt.Sprintf(sealFormat, sum) {
		return errDamagedCore
	}
	return nil
}
