//! Calls: where the result goes, what is refused.

use std::process::Stdio;

use crate::common::*;
use crate::pprof::Decoded;

#[test]
fn the_result_is_a_private_file_beside_the_recording() {
    use std::os::unix::fs::PermissionsExt;
    let dir = with_shop();
    for (format, ending) in [
        ("pprof", "pb.gz"),
        ("otlp", "otlp"),
        ("collapsed", "collapsed"),
        ("speedscope", "speedscope.json"),
        ("firefox", "firefox.json"),
        ("csv", "csv"),
        ("parquet", "parquet"),
    ] {
        let told = dir.ok(&["convert", "shop.jfr", "-o", format]);
        let name = format!("shop.{ending}");
        assert_eq!(told, format!(" {name} (100 samples: 1.00 s of CPU time)\n"));
        let mode = std::fs::metadata(dir.path(&name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        // It is not replaced without being asked to.
        let refused = dir.fails(1, &["convert", "shop.jfr", "-o", format]);
        assert!(refused.contains("--force"), "{refused}");
        dir.ok(&["convert", "shop.jfr", "-o", format, "--force"]);
    }
}

#[test]
fn stdin_and_stdout_are_a_dash() {
    let dir = with_shop();
    for call in [
        &["convert", "-", "-o", "pprof=-"],
        &["convert", "-", "-o", "pprof"],
    ] {
        let mut command = dir.command(call);
        command.stdin(Stdio::from(
            std::fs::File::open(dir.path("shop.jfr")).unwrap(),
        ));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(Decoded::new(&output.stdout).samples.len(), 4);
    }
    let mut report = dir.command(&["report", "-", "--by", "tenant"]);
    report.stdin(Stdio::from(
        std::fs::File::open(dir.path("shop.jfr")).unwrap(),
    ));
    assert!(report.output().unwrap().status.success());
}

#[test]
fn wrong_calls_say_what_is_right() {
    let dir = with_shop();
    for (code, more, told) in [
        (2, &["-o", "xml"][..], "no format 'xml'; there are: pprof, "),
        (2, &["-o", "pprof="], "no file behind '='"),
        (
            2,
            &["-o", "pprof=shop.jfr", "--force"],
            "shop.jfr is an input",
        ),
        (
            2,
            &["-o", "pprof", "--by", "tenant"],
            "this one has all labels",
        ),
        (
            1,
            &["-o", "collapsed", "--by", "tenan"],
            "did you mean 'tenant'?",
        ),
        (
            1,
            &["-o", "pprof", "--where", "tenan=acme"],
            "did you mean 'tenant'?",
        ),
        (
            1,
            &["-o", "pprof", "--where", "tenant=x"],
            "none has --where 'tenant=x'",
        ),
        (1, &["-o", "pprof", "--event", "alloc"], "no sample passes"),
        (1, &["-o", "pprof=no/such/x"], "cannot create"),
    ] {
        let call = [&["convert", "shop.jfr"], more].concat();
        let message = dir.fails(code, &call);
        assert!(message.contains(told), "{call:?}: {message}");
    }
    // As root a rename would replace it.
    let socket = dir.path("device");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let call = ["convert", "shop.jfr", "-o", "pprof=device", "--force"];
    assert!(dir.fails(1, &call).contains("is no regular file"));
    std::fs::remove_file(socket).unwrap();
    let left = std::fs::read_dir(dir.0.path()).unwrap().count();
    assert_eq!(left, 1, "no half file");
}
