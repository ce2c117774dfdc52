//! A real opserve-server for tests: of the folder that $OPSERVE_BIN_DIR names.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A server, which stops when this is dropped.
pub struct Server {
    process: Child,
    folder: PathBuf,
    pub target: String,
}

impl Server {
    /// The server with the default flags that the tests of this program share while one of them runs.
    pub fn shared() -> Arc<Server> {
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Self::start(&[]));
        *shared = Arc::downgrade(&server);
        server
    }

    /// A server of a test's own, on a free port.
    pub fn start(flags: &[&str]) -> Self {
        Self::listen("localhost:0", flags)
    }

    pub fn listen(address: &str, flags: &[&str]) -> Self {
        let programs =
            std::env::var("OPSERVE_BIN_DIR").expect("$OPSERVE_BIN_DIR must name the folder of opserve-server");
        let folder = new_folder();
        let port_file = folder.join("address");
        let process = Command::new(PathBuf::from(programs).join("opserve-server"))
            .args(["--listen", address, "--port-file"])
            .arg(&port_file)
            .args(flags)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .expect("opserve-server starts");
        let mut server = Self { process, folder, target: String::new() };
        server.target = server.await_address(&port_file);
        server
    }

    fn await_address(&mut self, port_file: &PathBuf) -> String {
        let late = Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok(text) = std::fs::read_to_string(port_file) {
                return text.lines().next().unwrap_or_default().to_owned();
            }
            let has_ended = self.process.try_wait().unwrap().is_some();
            let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(!has_ended && Instant::now() < late, "the server did not start:\n{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// An empty folder of this process.
pub fn new_folder() -> PathBuf {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("opserve-rust-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
