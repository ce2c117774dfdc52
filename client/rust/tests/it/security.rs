use std::fs;
use std::path::Path;
use std::process::Command;

use opserve::{Client, ErrorKind, Tls};

use crate::support::{Server, new_folder};

fn openssl(folder: &Path, arguments: &str) {
    let done =
        Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().expect("openssl is there");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A CA, and certificates of a server and of a client that it vouches for, as files.
fn certificates(folder: &Path) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2";
    openssl(
        folder,
        &format!("req -x509 {key} -subj /CN=ca -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem"),
    );
    for (name, host) in [("server", "localhost"), ("client", "client")] {
        let alternative = format!("-addext subjectAltName=DNS:{host} -addext basicConstraints=CA:FALSE");
        openssl(
            folder,
            &format!(
                "req -x509 -CA ca.pem -CAkey ca.key {key} -subj /CN={host} {alternative} -keyout {name}.key -out {name}.pem"
            ),
        );
    }
}

#[tokio::test]
async fn tls_a_certificate_and_a_token() {
    let folder = new_folder();
    certificates(&folder);
    let hash = Command::new("sh").args(["-c", "printf secret | sha256sum | cut -d ' ' -f 1"]).output().unwrap().stdout;
    fs::write(folder.join("tokens"), format!("me execute,discover sha256:{}", String::from_utf8(hash).unwrap()))
        .unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let server = Server::start(&[
        "--tls-cert",
        &path("server.pem"),
        "--tls-key",
        &path("server.key"),
        "--tls-client-ca",
        &path("ca.pem"),
        "--token-file",
        &path("tokens"),
    ]);
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let tls = || Tls::new().certificates(read("ca.pem"));
    let mutual = || tls().identity(read("client.pem"), read("client.key"));
    let connect = async |tls: Option<Tls>, token: &str| {
        let mut builder = Client::builder().target(server.target.as_str());
        if let Some(tls) = tls {
            builder = builder.tls(tls);
        }
        builder.token(token).connect().await
    };
    let client = connect(Some(mutual()), "secret").await.unwrap();
    assert_eq!(client.devices().await.unwrap().len(), 1);
    assert_eq!(client.statistics().await.unwrap_err().kind(), ErrorKind::Permission);
    assert_eq!(connect(Some(mutual()), "other").await.unwrap_err().reason(), "UNAUTHENTICATED");
    for (tls, what) in [
        (Some(tls()), "no certificate of the client's"),
        (Some(mutual().server_name("other")), "another name"),
        (Some(Tls::new()), "another CA"),
        (None, "clear text"),
    ] {
        let error = connect(tls, "secret").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{what}: {error}");
    }
    drop(server);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_token_does_not_go_in_clear_text() {
    let error = Client::builder().target("gpu.example.org:8500").token("secret").connect_lazy().unwrap_err();
    assert_eq!(error.parameter(), "token");
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn a_bad_certificate_is_told() {
    let tls = Tls::new().identity("no certificate", "no key");
    let error = Client::builder().target("localhost:1").tls(tls).connect_lazy().unwrap_err();
    assert_eq!((error.kind(), error.parameter()), (ErrorKind::InvalidArgument, "tls"), "{error}");
}
