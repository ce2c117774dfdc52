// Package testserver runs an opserve-server of its own for tests.
package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const startTimeout = 60 * time.Second

// Start serves on a free port of localhost until the test is over, and returns the address. The program is that of the folder
// $OPSERVE_BIN_DIR; without the variable the test is skipped.
func Start(t testing.TB, flags ...string) string {
	t.Helper()
	server, err := Run(t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	if server == nil {
		t.Skip("$OPSERVE_BIN_DIR does not say where opserve-server is")
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.Address
}

// A Server is a running one.
type Server struct {
	Address string
	process *exec.Cmd
	log     string
}

// Run starts a server that has its files in `folder`; it is nil where $OPSERVE_BIN_DIR is not set.
func Run(folder string, flags ...string) (*Server, error) {
	programs := os.Getenv("OPSERVE_BIN_DIR")
	if programs == "" {
		return nil, nil
	}
	ports, log := filepath.Join(folder, "address"), filepath.Join(folder, "server.log")
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	arguments := append([]string{"--listen", "localhost:0", "--port-file", ports}, flags...)
	server := &Server{process: exec.Command(filepath.Join(programs, "opserve-server"), arguments...), log: log}
	server.process.Stdout, server.process.Stderr = output, output
	if err := server.process.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(ports); err == nil { // it appears whole, once all addresses are bound
			server.Address = strings.Fields(string(text))[0]
			return server, nil
		}
		if err := server.process.Process.Signal(syscall.Signal(0)); err != nil {
			break
		}
	}
	_ = server.process.Process.Kill()
	_ = server.process.Wait()
	return nil, fmt.Errorf("the server did not start: %s", server.said())
}

// Stop ends the server, which must do so with status 0.
func (s *Server) Stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.process.Wait(); err != nil {
		return fmt.Errorf("the server stopped with %w: %s", err, s.said())
	}
	return nil
}

func (s *Server) said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
