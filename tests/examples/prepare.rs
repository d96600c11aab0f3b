//! Builds what the end-to-end tests load, by the very commands of the harness, and prints what it
//! is: `cargo run -p e2e --example prepare`.

fn main() {
    e2e::build::everything();
}
