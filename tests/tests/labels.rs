//! Labels of programs that do not know the agent (`labels`).

mod spans;

use std::collections::BTreeSet;
use std::fs;

use e2e::build::other_api;
use e2e::recording::Event;
use e2e::{Jdk, Jvm, ProcessOutput, Recording, TestDir, assert_contains};

/// Samples with a frame of this method.
fn in_method<'s>(samples: &'s [Event], method: &str) -> Vec<&'s Event> {
    let is_in = |sample: &&Event| sample.is_in(method);
    samples.iter().filter(is_in).collect()
}

/// Fails unless all samples in this method have this value, and there are enough to say so.
fn assert_labelled(samples: &[Event], method: &str, attribute: &str, value: Option<&str>) {
    let found = in_method(samples, method);
    assert!(found.len() >= 20, "{method}: {} samples", found.len());
    for sample in found {
        let frames = sample.frames();
        assert_eq!(sample.text(attribute), value, "{method}: {frames:?}");
    }
}

/// A service on the class path of `tests/services` that ends well.
fn served(jdk: Jdk, labels: &str, program: &str) -> Recording {
    served_by(jdk, Jvm::alone(jdk).services(), labels, program).1
}

/// The samples of a service with labels of its requests.
fn samples_of(jdk: Jdk, program: &str) -> Vec<Event> {
    served(jdk, "labels=route", program).samples()
}

fn served_by(jdk: Jdk, jvm: Jvm, labels: &str, program: &str) -> (ProcessOutput, Recording) {
    // The start is half of a service's time, and the slower compiler half of that: one JDK has it.
    let jvm = if jdk.version == Jdk::main().version {
        jvm
    } else {
        jvm.flag("-XX:TieredStopAtLevel=1")
    };
    // A call tells for certain who works. Of a loop that is compiled into its callers the compiler
    // takes some instructions for those of another one.
    let (run, recording) = jvm
        .agent(&format!("start,interval=1ms,file=app.jfr,{labels}"))
        .flag("-XX:CompileCommand=quiet")
        .flag("-XX:CompileCommand=dontinline,service.Work::spin")
        .flag("-Dserver.port=0")
        .program(&format!("service.{program}"))
        .record_to_exit();
    assert!(run.agent_lines().is_empty(), "{jdk}: {}", run.stderr);
    (run, recording)
}

#[test]
fn requests_of_the_jdk_server_have_their_route() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).without_api().flag("-Xcheck:jni");
        let jvm = jvm.agent("start,interval=1ms,file=app.jfr,labels=route");
        let run = jvm.program(&format!("Served 100 {kind}")).run_ok();
        assert!(run.agent_lines().is_empty(), "{jdk} {kind}: {}", run.stderr);
        let samples = test_dir.recording().samples();
        assert_labelled(&samples, "Served.orders", "operation", Some("GET /orders"));
        assert_labelled(&samples, "Served.search", "operation", Some("GET /search"));
        let operations = operations(&samples);
        assert_eq!(operations.len(), 2, "{operations:?}");
    }
}

/// The server's classes are loaded before the agent.
#[test]
fn server_that_runs_gets_labels_by_an_attach() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).without_api();
        let jvm = jvm.program("Served 60 platform attached").start();
        jvm.wait_for_line("ready");
        let file = test_dir.file("app.jfr");
        let start = format!("start,interval=1ms,labels=route,file={}", file.display());
        jvm.agent_command_ok(&start);
        fs::write(test_dir.file("attached"), "").unwrap();
        jvm.wait_for_line("served");
        jvm.agent_command_ok("status");
        jvm.agent_command_ok("stop");
        fs::write(test_dir.file("stopped"), "").unwrap();
        let run = jvm.finish();
        let found = format!("labels httpserver: on (version {}.", jdk.version);
        assert_contains!(run.stderr, &found, "{jdk}");
        let counts = ", classes with hooks: 1, labels set: ";
        assert_contains!(run.stderr, counts, "{jdk}");
        let samples = test_dir.recording().samples();
        assert_labelled(&samples, "Served.orders", "operation", Some("GET /orders"));
    }
}

/// Before it knows the route, the service runs a filter; `ctxjfr` gives its samples the route.
fn assert_early_samples_get_the_route(recording: &Recording) {
    let convert = ["convert", "FILE", "--by", "operation", "-o", "collapsed=-"];
    let stacks = recording.ctxjfr(&convert).stdout;
    for (method, operation) in [
        ("beforeOrders", "operation=GET /orders/{id};"),
        ("beforeFailing", "operation=GET /failing/{id};"),
    ] {
        let early = format!(";service.SpringService.{method}");
        let found: Vec<_> = stacks
            .lines()
            .filter(|line| line.contains(&early))
            .collect();
        assert!(!found.is_empty(), "{method}: {stacks}");
        for line in found {
            assert!(line.starts_with(operation), "{line}");
        }
    }
    // What the connector does before the container looks at the request.
    let unknown = stacks
        .lines()
        .find(|line| line.starts_with("operation=HTTP;"));
    assert_eq!(unknown, None);
}

#[test]
fn calls_of_grpc_have_their_method() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let samples = samples_of(jdk, &format!("GrpcService 80 {kind}"));
        assert_rows_of_page("service.GrpcService", &samples);
        let get = Some("shop.Orders/Get");
        assert_labelled(&samples, "service.GrpcService.get", "operation", get);
        let list = Some("shop.Orders/List");
        assert_labelled(&samples, "service.GrpcService.list", "operation", list);
        let add = Some("shop.Orders/Add");
        assert_labelled(&samples, "service.GrpcService$1.onNext", "operation", add);
        // None of the 80 names that a client has invented.
        let operations = operations(&samples);
        assert_eq!(
            operations,
            BTreeSet::from(["shop.Orders/Add", "shop.Orders/Get", "shop.Orders/List"])
        );
    }
}

/// Through all records, by partition, by topic, and not to the end.
#[test]
fn records_of_kafka_have_their_topic() {
    for jdk in Jdk::all() {
        let samples = samples_of(jdk, "KafkaService 100");
        let expected = [
            ("processOrder", Some("process orders")),
            ("processPayment", Some("process payments")),
            ("workAfterAll", None),
            ("workAfterEarlyEnd", None),
        ];
        assert_operations(&samples, "service.KafkaService", &expected);
    }
}

/// What the server of the JDK labels is its context, until Jersey knows better.
#[test]
fn requests_of_jersey_have_the_template_of_their_path() {
    for jdk in Jdk::all() {
        let samples = samples_of(jdk, "JerseyService 30");
        assert_rows_of_page("service.JerseyService", &samples);
        let order = "service.JerseyService$Orders.order";
        let item = "service.JerseyService$Items.item";
        assert_labelled(&samples, order, "operation", Some("GET /shop/orders/{id}"));
        let route = Some("GET /shop/orders/{id}/items/{item}");
        assert_labelled(&samples, item, "operation", route);
        let operations = operations(&samples);
        assert!(operations.len() <= 3, "{operations:?}");
    }
}

/// They are suspended, and go on on any thread of their dispatcher.
#[test]
fn coroutines_have_the_labels_of_who_started_them() {
    for jdk in Jdk::all() {
        let samples = samples_of(jdk, "CoroutineService 100");
        let expected = [
            ("orders", Some("GET /orders")),
            ("searches", Some("GET /search")),
            ("noRequest", None),
        ];
        assert_operations(&samples, "service.CoroutineService", &expected);
    }
}

/// A request keeps its route; other work has the name of the outermost observation, also where it
/// is carried to another thread.
#[test]
fn work_that_micrometer_observes_has_the_name_of_its_observation() {
    for jdk in Jdk::all() {
        let samples = samples_of(jdk, "ObservedService 100");
        let expected = [
            ("inRequest", Some("GET /orders")),
            ("refresh", Some("refresh prices")),
            ("fetch", Some("refresh prices")),
            ("fetchElsewhere", Some("refresh prices")),
            ("sendReports", Some("task reports.send")),
            ("evict", Some("cache.evict")),
            ("prices", Some("GET /prices/{id}")),
            ("notObserved", None),
        ];
        assert_operations(&samples, "service.ObservedService", &expected);
    }
}

/// Fails unless the samples of these methods of a service have these operations, and its samples
/// those that the page shows.
fn assert_operations(samples: &[Event], service: &str, expected: &[(&str, Option<&str>)]) {
    assert_rows_of_page(service, samples);
    for &(method, operation) in expected {
        let method = format!("{service}.{method}");
        assert_labelled(samples, &method, "operation", operation);
    }
}

/// Fails unless the rows that the page shows of a service are those of its samples.
fn assert_rows_of_page(service: &str, samples: &[Event]) {
    let page = fs::read_to_string(e2e::workspace::root().join("docs/user-guide/labels.md"));
    let page = page.unwrap();
    let (_, after) = page.split_once(&format!(" {service} ")).unwrap();
    let table = after.split("```").nth(2).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .filter_map(|row| row.trim().split("  ").next());
    let rows: BTreeSet<_> = rows
        .filter(|row| !row.is_empty() && !row.starts_with('('))
        .collect();
    assert!(rows.len() >= 2, "{table}");
    let operations = operations(samples);
    assert!(rows.is_subset(&operations), "{rows:?} {operations:?}");
}

fn operations(samples: &[Event]) -> BTreeSet<&str> {
    samples
        .iter()
        .filter_map(|sample| sample.text("operation"))
        .collect()
}

#[test]
fn spring_requests_have_the_pattern_of_their_route() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let is_virtual = kind == "virtual";
        let program = format!("SpringService 60 --spring.threads.virtual.enabled={is_virtual}");
        assert_spring_labels(&served(jdk, "labels=route", &program));
    }
}

/// Spring 5 on Tomcat 9.
#[test]
fn spring_requests_with_servlets_of_javax_have_the_pattern_of_their_route() {
    for jdk in Jdk::all() {
        let program = "SpringService 60";
        let jvm = Jvm::alone(jdk).javax_services();
        let (_, recording) = served_by(jdk, jvm, "labels=route", program);
        assert_spring_labels(&recording);
    }
}

/// Fails unless this part of the CPU time of a method and what it calls is of routes. What `ctxjfr`
/// learns later counts.
fn assert_routes(recording: &Recording, method: &str, percent: u64) {
    let convert = ["convert", "FILE", "--by", "operation", "-o", "collapsed=-"];
    let stacks = recording.ctxjfr(&convert).stdout;
    let frame = format!(";{method}");
    let (mut all, mut routed, mut others) = (0, 0, Vec::new());
    for line in stacks.lines().filter(|line| line.contains(&frame)) {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let count: u64 = count.parse().unwrap();
        let (operation, _) = stack.split_once(';').unwrap();
        all += count;
        if operation.contains(" /") {
            routed += count;
        } else {
            others.push(line);
        }
    }
    println!("{method}: {routed} of {all} have a route");
    assert!(all >= 200, "{all}");
    assert!(
        routed * 100 >= all * percent,
        "{routed} of {all}: {others:#?}"
    );
}

fn assert_spring_labels(recording: &Recording) {
    assert_routes(
        recording,
        "org.apache.catalina.connector.CoyoteAdapter.service",
        98,
    );
    let samples = recording.samples();
    let expected = [
        ("orders", Some("GET /orders/{id}")),
        ("searches", Some("GET /search")),
        ("failing", Some("GET /failing/{id}")),
    ];
    assert_operations(&samples, "service.SpringService", &expected);
    assert_early_samples_get_the_route(recording);
    // 60 paths that are not there are one label.
    let operations = operations(&samples);
    let known = [
        "GET",
        "GET /**",
        "GET /failing/{id}",
        "GET /orders/{id}",
        "GET /search",
        "HTTP",
    ];
    let others: Vec<_> = operations.iter().filter(|o| !known.contains(o)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Work of a request goes to timers, pools, other channels and back.
#[test]
fn reactive_requests_have_the_pattern_of_their_route_on_each_thread() {
    for jdk in Jdk::all() {
        let program = "WebFluxService 36 --spring.main.web-application-type=reactive";
        let recording = served(jdk, "labels=route,propagate=all", program);
        let samples = recording.samples();
        assert_routes(
            &recording,
            "reactor.netty.http.server.HttpServerOperations.onInboundNext",
            95,
        );
        let expected = [
            ("orders", Some("GET /orders/{id}")),
            ("delayed", Some("GET /delayed/{id}")),
            ("blocking", Some("GET /blocking/{id}")),
            ("posted", Some("POST /posted")),
        ];
        assert_operations(&samples, "service.WebFluxService", &expected);
        // The first answer on a connection has no label.
        let called = in_method(&samples, "service.WebFluxService.calling");
        let (right, none) = ("GET /calling/{id}", 20);
        let of = |value| called.iter().filter(move |s| s.text("operation") == value);
        assert!(of(Some(right)).count() >= 4 * none, "{jdk}");
        assert_eq!(of(Some(right)).count() + of(None).count(), called.len());
        assert!(of(None).count() <= none, "{jdk}: {}", of(None).count());
    }
}

#[test]
fn requests_of_jetty_have_the_pattern_of_their_servlet() {
    for jdk in Jdk::all() {
        // Jetty 10 has those of javax.
        for services in [Jvm::services, Jvm::javax_services] {
            let jvm = services(Jvm::alone(jdk));
            let (_, recording) = served_by(jdk, jvm, "labels=route", "JettyService 160");
            assert_jetty_labels(&recording);
        }
    }
}

fn assert_jetty_labels(recording: &Recording) {
    assert_routes(recording, "org.eclipse.jetty.server.Server.handle", 98);
    let samples = recording.samples();
    assert_rows_of_page("service.JettyService", &samples);
    let orders = "service.JettyService$Orders.doGet";
    assert_labelled(&samples, orders, "operation", Some("GET /shop/orders/*"));
    let search = "service.JettyService$Search.doGet";
    assert_labelled(&samples, search, "operation", Some("GET /shop/search"));
    let operations = operations(&samples);
    let known = BTreeSet::from(["GET", "GET /shop/orders/*", "GET /shop/search"]);
    assert!(operations.is_subset(&known), "{operations:?}");
}

#[test]
fn keys_of_loggers_that_are_asked_for_become_attributes() {
    for jdk in Jdk::all() {
        let labels = "labels=mdc:tenant+mdc:user";
        let samples = served(jdk, labels, "LoggedService 300").samples();
        let cut = "x".repeat(255);
        let of = |method: &str, attribute: &str, value| {
            assert_labelled(
                &samples,
                &format!("service.LoggedService.{method}"),
                attribute,
                value,
            );
        };
        of("workOfAcme", "tenant", Some("acme"));
        of("workOfGlobex", "tenant", Some("globex"));
        of("workOfAnn", "user", Some("ann"));
        of("workOfBob", "user", Some("bob"));
        of("workOfNobody", "tenant", None);
        of("workOfNobody", "user", None);
        of("workOfLong", "tenant", Some(&cut));
        of("workOfControls", "tenant", Some("\u{1}\u{202e}\n"));
        for name in ["secret", "a", "b", "c", "d", "e", "f", "g"] {
            assert_eq!(samples[0].values.get(name), None, "{name}");
        }
    }
}

/// A key is removed while nothing records: the next recording does not show it.
#[test]
fn what_an_earlier_recording_has_set_is_gone() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir).services();
    let jvm = jvm.agent("start,file=first.jfr,labels=mdc:tenant");
    let jvm = jvm.program("service.LoggedService between").start();
    jvm.wait_for_line("until stopped");
    jvm.agent_command_ok("status");
    jvm.agent_command_ok("stop");
    fs::write(test_dir.file("stopped"), "").unwrap();
    jvm.wait_for_line("until started");
    let file = test_dir.file("second.jfr");
    let start = format!(
        "start,interval=1ms,labels=mdc:tenant,file={}",
        file.display()
    );
    jvm.agent_command_ok(&start);
    fs::write(test_dir.file("started"), "").unwrap();
    jvm.wait_for_line("until ended");
    jvm.agent_command_ok("status");
    jvm.agent_command_ok("stop");
    fs::write(test_dir.file("ended"), "").unwrap();
    let stderr = jvm.finish().stderr;
    // Its classes have their hooks already: none gets them once more.
    let hooked = stderr.lines().filter_map(|line| {
        let (_, classes) = line
            .split_once("labels mdc: on (")?
            .1
            .split_once("hooks: ")?;
        Some(classes.split_once(',')?.0)
    });
    let hooked: Vec<_> = hooked.collect();
    assert!(
        hooked.len() == 2 && hooked[0] == hooked[1],
        "{hooked:?}: {stderr}"
    );
    let recording = Recording::new(file);
    let samples = recording.samples();
    let nobody = "service.LoggedService.workOfNobody";
    assert_labelled(&samples, nobody, "tenant", None);
}

/// A program without any of the libraries has none of our classes.
#[test]
fn without_a_library_nothing_is_loaded() {
    for jdk in Jdk::all() {
        let jvm = Jvm::alone(jdk).without_api();
        let jvm = jvm.agent("start,file=app.jfr,labels=auto+mdc:tenant");
        let run = jvm.flag("-Xlog:class+load").program("Hello 50").run_ok();
        assert!(run.agent_lines().is_empty(), "{jdk}: {}", run.stderr);
        assert_contains!(run.stdout, "java.lang.Object");
        assert!(!run.stdout.contains("io.ctxagent"), "{jdk}: {}", run.stdout);
    }
}

/// Runs a program with libraries that are not what the agent expects; its callers say what the agent
/// may say of these.
fn with_other_libraries(jdk: Jdk, labels: &str, arguments: &[&str]) -> ProcessOutput {
    let test_dir = TestDir::new();
    let jvm = other_libraries(jdk, &test_dir, labels).may_warn("warning: labels of ");
    jvm.main("OtherLibraries", arguments).run_ok()
}

fn other_libraries(jdk: Jdk, test_dir: &TestDir, labels: &str) -> Jvm {
    let jvm = Jvm::new(jdk, test_dir)
        .without_api()
        .class_path(&other_api());
    jvm.agent(&format!("start,file=app.jfr,labels={labels}"))
}

/// Each class that the VM has to load anew is a pause: that is the first one, later ones get their
/// hooks as they are loaded. One that is first used after the recording works like any other.
#[test]
fn only_the_first_class_is_loaded_anew() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = other_libraries(jdk, &test_dir, "auto");
        let jvm = jvm.flag("-Xlog:redefine*=info").flag("-Xcheck:jni");
        let run = jvm.program("OtherLibraries stopped").run_ok();
        let (log, printed): (Vec<&str>, Vec<&str>) =
            run.stdout.lines().partition(|line| line.starts_with('['));
        let turns = [&["read text"; 3][..], &["context", "null"].repeat(3)].concat();
        assert_eq!(printed, turns, "{jdk}");
        let loaded_anew = log.iter().filter(|line| line.contains("redefined name="));
        let loaded_anew: Vec<&&str> = loaded_anew.collect();
        assert!(
            matches!(loaded_anew[..], [one] if one.contains("ChannelOperationsHandler")),
            "{jdk}: {loaded_anew:#?}"
        );
        assert!(run.agent_lines().is_empty(), "{jdk}: {}", run.stderr);
    }
}

/// One has a method of another shape, the other one throws.
#[test]
fn library_that_is_not_as_expected_works_and_gives_no_labels() {
    for jdk in Jdk::all() {
        let run = with_other_libraries(jdk, "auto+mdc:tenant", &[]);
        let turns = "context\nnull\n".repeat(3);
        assert_eq!(run.stdout, format!("tenant=acme\n{turns}"), "{jdk}");
        let expected = [
            "ctxagent: warning: labels of mdc are off: org.slf4j.MDC: it has no method put",
            "ctxagent: warning: labels of otel are off: java.lang.IllegalStateException: this \
             library is broken",
        ];
        assert_eq!(run.agent_lines(), expected, "{jdk}");
    }
}

#[test]
fn class_loader_that_finds_nothing_of_ours_gets_no_hooks() {
    for jdk in Jdk::all() {
        let run = with_other_libraries(jdk, "auto", &["isolated"]);
        assert_eq!(run.stdout, "context\nnull\n".repeat(3), "{jdk}");
        let expected = "ctxagent: warning: labels of otel are off: its class loader does not ask \
                        the boot loader";
        assert_eq!(run.agent_lines(), [expected], "{jdk}");
    }
}

/// What fails after a request has been served does not reach the connector.
#[test]
fn connector_without_status_serves_as_ever() {
    for jdk in Jdk::all() {
        let run = with_other_libraries(jdk, "auto", &["connector"]);
        assert_eq!(run.stdout, "served\n".repeat(3), "{jdk}");
        let [line] = &run.agent_lines()[..] else {
            panic!("{jdk}: {}", run.stderr);
        };
        let off = "ctxagent: warning: labels of tomcat are off: java.lang.NoSuchMethodError: ";
        assert!(line.starts_with(off), "{jdk}: {line}");
    }
}

/// Reactor Netty has users that do not speak HTTP.
#[test]
fn channel_without_http_is_read_as_ever() {
    for jdk in Jdk::all() {
        let run = with_other_libraries(jdk, "auto", &["channel"]);
        assert_eq!(run.stdout, "read text\n".repeat(3), "{jdk}");
        assert!(run.agent_lines().is_empty(), "{jdk}: {}", run.stderr);
    }
}
