//go:build unix

package sqlitelog

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock on a file without waiting, or returns errHeld. The kernel frees it when the process ends.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // it holds a process number
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
