//! The files to read: made here by our writer, and what the caller brings along.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use jfr_format::write::{
    AttributeKey, FileStorage, Frame, FrameKind, Method, MethodKey, Recording, StackTrace, Thread,
    Ticks,
};

use crate::sample_event::{self, Sample};

/// What a big file has at least.
const BIG: u64 = 200_000_000;
/// Samples of a chunk: about 12 MB with its stacks, where recordings rotate.
const PER_CHUNK: u64 = 500_000;

/// A small file and a big one of our writer; each given file, and it end to end with itself until
/// it is big.
///
/// A file repeated has the same keys for the same values, so that every reader can live with it.
pub(crate) fn make(directory: &Path, given: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> + use<> {
    let own = [
        ("written-small.jfr", 20_000),
        ("written-big.jfr", 9_000_000),
    ]
    .map(|(name, samples)| (directory.join(name), samples));
    let own = own.into_iter().map(|(path, samples)| {
        write(&path, samples);
        path
    });
    let directory = directory.to_owned();
    let brought = given.into_iter().flat_map(move |file| {
        let big = directory.join(format!(
            "repeated-{}",
            file.file_name().unwrap().to_string_lossy()
        ));
        repeat(&file, &big);
        [file, big]
    });
    own.chain(brought)
}

fn repeat(file: &Path, target: &Path) {
    let bytes = std::fs::read(file).unwrap();
    let mut out = BufWriter::new(File::create(target).unwrap());
    for _ in 0..BIG.div_ceil(bytes.len() as u64) {
        out.write_all(&bytes).unwrap();
    }
    out.flush().unwrap();
}

/// A program of 200 methods, 50 threads and 300 stacks of 20 frames a chunk; two of eight
/// attributes are set.
fn write(path: &Path, samples: u64) {
    let mut r =
        Recording::create(FileStorage::create(path).unwrap(), sample_event::config()).unwrap();
    let mut methods = Vec::new();
    for i in 0..samples {
        let at = Ticks(i * 100);
        if i.is_multiple_of(PER_CHUNK) {
            if i > 0 {
                r.rotate(at).unwrap();
            }
            methods = (0..200).map(|n| method(&mut r, n)).collect();
        }
        sample(&mut r, at, i, &methods);
        if i.is_multiple_of(PER_CHUNK / 10) {
            r.flush(at).unwrap();
        }
    }
    r.finish(Ticks(samples * 100)).unwrap();
}

fn method(r: &mut Recording<FileStorage>, n: u64) -> MethodKey {
    let class = format!("app/shop/Service{}", n % 40);
    r.method(&Method::new(&class, &format!("method{n}"), "(I)V", 1))
}

fn sample(r: &mut Recording<FileStorage>, at: Ticks, i: u64, methods: &[MethodKey]) {
    let n = i.wrapping_mul(2_654_435_761) >> 8;
    let mut values = [AttributeKey::NONE; 8];
    values[0] =
        r.attribute_value(["/checkout", "/search", "/cart"][usize::try_from(n % 3).unwrap()]);
    values[1] = r.attribute_value(&format!("tenant-{}", n % 50));
    let context = r.context(at, &values);
    let thread = r.thread(&Thread {
        java_name: Some(&format!("worker-{}", n % 50)),
        java_id: 1 + n % 50,
        ..Thread::native("worker", 100 + n % 50)
    });
    let mut frames = [Frame {
        method: methods[0],
        line: 1,
        bci: 3,
        kind: FrameKind::Jit,
    }; 20];
    for (depth, frame) in (0u32..).zip(&mut frames) {
        frame.method = methods[usize::try_from((n % 300 + u64::from(depth) * 7) % 200).unwrap()];
        // 300 stacks of 200 places: the line tells the rest apart.
        frame.line = i32::try_from(depth).unwrap() + 1 + i32::try_from(n % 300 / 200).unwrap();
    }
    let stack = r.stack(&StackTrace {
        truncated: false,
        frames: &frames,
    });
    let state = r.state("STATE_RUNNABLE");
    let sample = Sample {
        at,
        thread,
        stack,
        state,
        context,
    };
    sample_event::put(r, &sample);
}
