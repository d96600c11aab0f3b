# To be sourced by demo.sh and bench-demo.sh: how to build and run examples/shop on JDK 21.

# Builds the agent, the command line and the shop, unless that was done.
build_shop() {
  local tools
  command -v cargo >/dev/null || {
    echo "cargo is missing: it builds the agent; install Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or later with rustup" >&2
    exit 1
  }
  tools=$(scripts/toolchain.sh env)
  eval "$tools"
  echo "building the agent, ctxjfr and the shop (the first time takes some minutes)" >&2
  cargo build --release --quiet -p ctxagent -p ctxjfr
  JAVA_HOME=$CTXAGENT_GRADLE_JDK "$CTXAGENT_GRADLE" --quiet --console=plain :shop:app 2>target/gradle-shop.log >&2 || {
    cat target/gradle-shop.log >&2
    exit 1
  }
}

# shop JVM_OPTION… SHOP_OPTION…: shop options begin with "--" and have "=".
shop() {
  local vm=() own=() argument
  for argument in "$@"; do
    if [[ $argument == --*=* ]]; then own+=("$argument"); else vm+=("$argument"); fi
  done
  "$JAVA_HOME_21/bin/java" -Xms256m -Xmx256m "${vm[@]}" -cp 'examples/shop/build/app/*' shop.Shop "${own[@]}"
}
