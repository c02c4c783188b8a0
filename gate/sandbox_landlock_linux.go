package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock, see https://docs.kernel.org/userspace-api/landlock.html. Each ABI added some.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	writeRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK

	// never granted: devices are neither made nor controlled.
	deviceRights = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	tcpRights = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	scopes    = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL

	neededABI = 6 // the first with scopes, Linux 6.12
)

// landlockABI returns the version of Landlock that the kernel has; zero is none.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

func (c *cage) checkLandlock() error {
	if abi := landlockABI(); abi < neededABI && !(c.BestEffort && abi > 0) {
		return fmt.Errorf("Landlock of ABI %d is needed (Linux 6.12), this kernel has %d", neededABI, abi)
	}
	return nil
}

// handled returns what the ruleset speaks of, as far as the kernel knows it.
func (c *cage) handled() unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs: readRights | writeRights | deviceRights, Handled_access_net: tcpRights, Scoped: scopes,
	}
	if c.AnyNetwork {
		attr.Handled_access_net, attr.Scoped = 0, unix.LANDLOCK_SCOPE_SIGNAL
	}
	abi := landlockABI()
	if abi < 2 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 4 {
		attr.Handled_access_net = 0
	}
	if abi < 5 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi < 6 {
		attr.Scoped = 0
	}
	return attr
}

// A ruleset is being filled.
type ruleset struct {
	file    *os.File
	handled unix.LandlockRulesetAttr
	hide    []string
}

// rules makes the ruleset of a program that works in dir.
func (c *cage) rules(dir string) (*os.File, error) {
	rs := &ruleset{handled: c.handled()}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rs.handled)),
		unsafe.Sizeof(rs.handled), 0)
	if errno != 0 {
		return nil, fmt.Errorf("Landlock: %w", errno)
	}
	rs.file = os.NewFile(fd, "landlock")
	if err := c.fill(rs, dir); err != nil {
		rs.file.Close()
		return nil, err
	}
	return rs.file, nil
}

func (c *cage) fill(rs *ruleset, dir string) error {
	if err := c.fillHidden(rs, dir); err != nil {
		return fmt.Errorf("Hide: %w", err)
	}
	read := c.Read
	if read == nil {
		read = []string{"/"}
	}
	for _, path := range read {
		if err := rs.read(relativeTo(dir, path)); err != nil {
			return fmt.Errorf("Read: %w", err)
		}
	}
	for _, path := range c.Write {
		if err := rs.write(relativeTo(dir, path)); err != nil {
			return fmt.Errorf("Write: %w", err)
		}
	}
	if err := rs.allow("/dev/null", readRights|writeRights); err != nil {
		return err
	}
	return c.fillPorts(rs)
}

// fillHidden notes what is to be hidden. A disk could be read past its files, so devices go with them.
func (c *cage) fillHidden(rs *ruleset, dir string) error {
	for _, path := range c.Hide {
		real, err := realPath(relativeTo(dir, path))
		if err != nil {
			return err
		}
		rs.hide = append(rs.hide, real)
	}
	if len(rs.hide) == 0 {
		return nil
	}
	rs.hide = append(rs.hide, "/dev")
	for _, path := range []string{"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		if err := rs.allow(path, readRights); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// hides reports whether something hidden is at or below path, or path below that.
func (rs *ruleset) hides(path string) bool {
	return slices.ContainsFunc(rs.hide, func(h string) bool { return within(h, path) || within(path, h) })
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// read lets path be read and executed. Landlock only ever adds rights on the way down, so where something
// below is hidden, the rights go to its neighbours at each level instead.
func (rs *ruleset) read(path string) error {
	if len(rs.hide) == 0 {
		return rs.allow(path, readRights)
	}
	real, err := realPath(path)
	if err != nil {
		return err
	}
	for _, h := range rs.hide {
		if within(real, h) {
			return nil
		}
	}
	if !rs.hides(real) {
		return rs.allow(real, readRights)
	}
	if err := rs.allow(real, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink != 0 {
			continue // its target has, or has not, rights of its own
		}
		if err := rs.read(filepath.Join(real, entry.Name())); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// write lets path be written, unless that would show what is hidden.
func (rs *ruleset) write(path string) error {
	real, err := realPath(path)
	if err != nil {
		return err
	}
	if real != "/dev/null" && rs.hides(real) {
		return fmt.Errorf("%s holds what is to be hidden", path)
	}
	return rs.allow(path, writeRights)
}

// allow grants rights to path and all below it.
func (rs *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & rs.handled.Handled_access_fs, Parent_fd: int32(fd)}
	if rule.Allowed_access == 0 {
		return nil
	}
	return rs.add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

func (rs *ruleset) add(kind uintptr, rule unsafe.Pointer) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rs.file.Fd(), kind, uintptr(rule), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("Landlock: %w", errno)
	}
	return nil
}

const ruleNetPort = 2 // LANDLOCK_RULE_NET_PORT

func (c *cage) fillPorts(rs *ruleset) error {
	grant := func(ports []uint16, right uint64) error {
		for _, port := range ports {
			rule := struct{ access, port uint64 }{right, uint64(port)}
			if err := rs.add(ruleNetPort, unsafe.Pointer(&rule)); err != nil {
				return err
			}
		}
		return nil
	}
	if rs.handled.Handled_access_net == 0 {
		return nil
	}
	if err := grant(c.Connect, unix.LANDLOCK_ACCESS_NET_CONNECT_TCP); err != nil {
		return err
	}
	return grant(c.Bind, unix.LANDLOCK_ACCESS_NET_BIND_TCP)
}
