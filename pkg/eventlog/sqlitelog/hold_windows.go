package sqlitelog

import (
	"errors"
	"os"
	"syscall"
)

// errSharing is Windows' ERROR_SHARING_VIOLATION.
const errSharing syscall.Errno = 32

// lockFile opens a file that nobody else may write meanwhile, or returns errHeld. The kernel closes it when the
// process ends.
func lockFile(name string) (*os.File, error) {
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, errHeld
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
