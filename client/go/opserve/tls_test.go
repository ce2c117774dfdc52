package opserve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"opserve.dev/go/internal/testserver"
	"opserve.dev/go/opserve"
)

// An authority signs certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	data, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	made, err := x509.ParseCertificate(data)
	check(t, err)
	return &authority{certificate: made, key: key, serial: 1}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// issue is a certificate for localhost, as PEM, and its key.
func (a *authority) issue(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	a.serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	data, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	check(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestTLS(t *testing.T) {
	trusted := newAuthority(t)
	certificate, key := trusted.issue(t)
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.certificate.Raw})
	address := testserver.Start(t, "--tls-cert", written(t, "cert.pem", certificate), "--tls-key", written(t, "key.pem", key),
		"--tls-client-ca", written(t, "ca.pem", root))
	mine, err := tls.X509KeyPair(trusted.issue(t))
	check(t, err)
	shown := &tls.Config{RootCAs: trusted.pool(), Certificates: []tls.Certificate{mine}}
	strange := &tls.Config{RootCAs: newAuthority(t).pool(), Certificates: []tls.Certificate{mine}}
	for name, test := range map[string]struct {
		target  string
		options []opserve.Option
		fails   bool
	}{
		"both sides show certificates":    {target: address, options: []opserve.Option{opserve.WithTLS(shown)}},
		"several targets":                 {target: address + "," + address, options: []opserve.Option{opserve.WithTLS(shown)}},
		"a token over TLS is not refused": {target: address, options: []opserve.Option{opserve.WithTLS(shown), opserve.WithToken("unused")}},
		"a client without a certificate":  {target: address, options: []opserve.Option{opserve.WithTLS(&tls.Config{RootCAs: trusted.pool()})}, fails: true},
		"a server that is not trusted":    {target: address, options: []opserve.Option{opserve.WithTLS(strange)}, fails: true},
		"nor by the system":               {target: address, options: []opserve.Option{opserve.WithTLS(nil)}, fails: true},
		"clear text":                      {target: address, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := opserve.Connect(t.Context(), test.target, test.options...)
			if err == nil {
				defer client.Close()
			}
			var failed *opserve.Error
			if errors.As(err, &failed) != test.fails || test.fails && failed.Code != codes.Unavailable {
				t.Errorf("got %v", err)
			}
		})
	}
}
