# Two hosts on one machine: network namespaces joined by one cable, each with a name of its own. Source it, call
# need_hosts once, and take hosts_mpirun for mpirun. Needs the rights to make namespaces.

# need_hosts MPIRUN: builds them, and takes them down when the shell ends; exit 77 (skipped) with the reason where that is
# not allowed.
need_hosts() {
  host_a=qa$$ host_b=qb$$ hosts_mpi=$1
  local tool error
  for tool in ip unshare; do
    command -v $tool > /dev/null || { echo "skipped: there is no '$tool' here"; exit 77; }
  done
  trap 'drop_hosts' EXIT
  error=$( { ip netns add $host_a && ip netns add $host_b &&
    ip link add $host_a type veth peer name $host_b &&
    ip link set $host_a netns $host_a && ip link set $host_b netns $host_b &&
    ip -n $host_a addr add 10.77.0.1/24 dev $host_a && ip -n $host_b addr add 10.77.0.2/24 dev $host_b &&
    ip -n $host_a link set lo up && ip -n $host_b link set lo up && link up && ip netns exec $host_a unshare --uts true; } 2>&1) ||
    { echo "skipped: network namespaces cannot be made here: $error"; exit 77; }
  hosts_folder=$(mktemp -d)
  cat > "$hosts_folder/agent" << END
#!/usr/bin/env bash
shift
ip netns exec $host_b unshare --uts bash -c "hostname hostb; \$*"
exit 0  # a secure shell does not learn that the other end has lost its power
END
  chmod +x "$hosts_folder/agent"
}

drop_hosts() {
  ip netns del $host_a 2> /dev/null
  ip netns del $host_b 2> /dev/null
  rm -rf "${hosts_folder:-}"
}

# link up|down: the cable between them.
link() { ip -n $host_a link set $host_a "$1" && ip -n $host_b link set $host_b "$1"; }

# hosts_mpirun RANKS COMMAND...: on the first host, half of the ranks on each.
hosts_mpirun() {
  local ranks=$1 options=(--oversubscribe --bind-to none)
  shift
  [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
  options+=(--mca plm_rsh_agent "$hosts_folder/agent" --host "10.77.0.1:$((ranks / 2)),10.77.0.2:$((ranks / 2))")
  options+=(--mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24)
  exec ip netns exec $host_a unshare --uts bash -c 'hostname hosta; exec "$@"' - "$hosts_mpi" "${options[@]}" -n "$ranks" "$@"
}
