//! The id of the container that a process is in, as container engines write it into `/proc`.

/// Hexadecimal digits of an id: docker, podman, containerd and CRI-O take 256 bits.
const DIGITS: usize = 64;
/// Directories of containers, in the paths of what engines mount into each: its host name and so
/// on. Needed where a namespace hides the path of the control group.
const DIRECTORIES: [&str; 2] = ["/containers/", "/overlay-containers/"];

/// The id in `/proc/PID/cgroup`, else in `/proc/PID/mountinfo`.
pub(crate) fn id(cgroup: &str, mountinfo: &str) -> Option<String> {
    // The innermost group is the last part of the path: a pod, for example, is around it.
    let paths = cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let mut of_groups = paths.filter_map(|path| path.rsplit('/').find_map(id_in));
    of_groups.next().or_else(|| {
        let roots = mountinfo.lines().filter_map(|line| line.split(' ').nth(3));
        let mut of_mounts = roots.filter_map(|root| {
            let mut rests = DIRECTORIES.iter().filter_map(|at| root.split_once(at));
            rests.find_map(|(_, rest)| id_in(rest.split('/').next()?))
        });
        of_mounts.next()
    })
}

/// The id in a name like `docker-ID.scope`, `cri-containerd-ID.scope`, `ID`.
fn id_in(name: &str) -> Option<String> {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    parts
        .find(|part| part.len() == DIGITS && part.chars().all(is_hex))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> String {
        "0123456789abcdef".repeat(4)
    }

    #[test]
    fn groups_of_engines_name_the_container() {
        let example = example();
        for path in [
            format!("0::/system.slice/docker-{example}.scope"),
            format!("12:cpu,cpuacct:/docker/{example}\n0::/"),
            format!("0::/kubepods.slice/kubepods-pod1_2.slice/cri-containerd-{example}.scope"),
            format!("0::/kubepods/burstable/pod1f-2/{example}"),
            format!("0::/machine.slice/libpod-{example}.scope/container"),
            format!("0::/user.slice/user-1000.slice/x/crio-{example}.scope"),
        ] {
            assert_eq!(id(&path, ""), Some(example.clone()), "{path}");
        }
        // Docker in docker: the inner one.
        let other = "f".repeat(DIGITS);
        let nested = format!("0::/docker/{other}/docker/{example}");
        assert_eq!(id(&nested, ""), Some(example));
    }

    #[test]
    fn mounts_name_it_where_the_group_is_hidden() {
        let example = example();
        let mount = |root: &str| {
            format!(
                "1 2 8:1 / / rw - overlay overlay rw,upperdir=/x/containers/{example}/diff\n\
                 3 1 8:1 {root} /etc/hostname rw - ext4 /dev/sda1 rw\n"
            )
        };
        for root in [
            format!("/var/lib/docker/containers/{example}/hostname"),
            format!("/var/lib/containers/storage/overlay-containers/{example}/userdata/hostname"),
        ] {
            assert_eq!(id("0::/\n", &mount(&root)), Some(example.clone()), "{root}");
        }
        assert_eq!(id("0::/\n", &mount("/etc/hostname")), None);
    }

    #[test]
    fn what_is_no_id_is_none() {
        let example = example();
        for path in [
            "0::/user.slice/session-1.scope".to_owned(),
            format!("0::/docker/{}", &example[1..]),
            format!("0::/docker/{example}0"),
            format!("0::/docker/{}", example.to_uppercase()),
            String::new(),
        ] {
            assert_eq!(id(&path, ""), None, "{path}");
        }
    }
}
