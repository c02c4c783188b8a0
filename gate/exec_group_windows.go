package gate

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pipeTakes is what an empty pipe takes without waiting; here nothing is promised.
const pipeTakes = 0

// A group is the job object that a program and its descendants are in.
type group struct {
	job windows.Handle
	pid uint32
}

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return new(group)
}

func (g *group) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return os.NewSyscallError("CreateJobObject", err)
	}
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return err
	}
	g.job, g.pid = job, uint32(cmd.Process.Pid)
	if err := g.take(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		windows.CloseHandle(job)
		return err
	}
	return nil
}

// take puts the started program into the job.
func (g *group) take() error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(process)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(g.job, process))
}

func (g *group) terminate() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) }
func (g *group) kill()      { _ = windows.TerminateJobObject(g.job, 1) }
func (g *group) close()     { _ = windows.CloseHandle(g.job) }

// alive reports whether the job still has members.
func (g *group) alive() bool {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		UserTime, KernelTime, PeriodUserTime, PeriodKernelTime int64
		PageFaults, Processes, Active, Terminated              uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.Active > 0
}

// awaitExit returns when the program has ended. Windows knows no signals.
func awaitExit(cmd *exec.Cmd) (signaled bool) {
	_ = cmd.Wait() // ProcessState says it better
	return false
}

func exitOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

func hasSeparator(arg0 string) bool { return strings.ContainsAny(arg0, `:\/`) }

// executableNames lists the file names that arg0 may stand for, by PATHEXT.
func executableNames(arg0 string, env []string) []string {
	if filepath.Ext(arg0) != "" {
		return []string{arg0}
	}
	list := getenv(env, "PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	var names []string
	for _, ext := range strings.Split(strings.ToLower(list), ";") {
		if ext != "" {
			names = append(names, arg0+"."+strings.TrimPrefix(ext, "."))
		}
	}
	return names
}

func mayExecute(_ string, info fs.FileInfo) bool { return info.Mode().IsRegular() }

// refuseWords keeps words from a batch file that cmd.exe, which runs it, would not take as words. A path
// without an extension may turn out to be one.
func refuseWords(path string, args []string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".bat" && ext != ".cmd" && ext != "" {
		return nil
	}
	for i, a := range args[1:] {
		if at := strings.IndexAny(a, "\"%!^&|<>()\r\n"); at >= 0 {
			return &StartError{Kind: BadText, Arg0: args[0], Path: path, Detail: fmt.Sprintf(
				"word %d holds %q, which cmd.exe would act on in a batch file; name a program by its .exe", i+1, a[at])}
		}
	}
	return nil
}
