import type { Layout } from '../layout.ts';

interface ConfigInput {
  readonly layout: Layout;
  readonly sandboxImage: string;
  readonly snapshotter: 'overlayfs' | 'native';
  readonly cniPlugins: string;
  readonly canLowerOomScore: boolean;
}

/** Plugins that pods do not need. Each of them slows down containerd's startup or adds work for every container. */
const DISABLED_PLUGINS = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.internal.v1.tracing',
  'io.containerd.internal.v1.restart',
  'io.containerd.internal.v1.opt',
  'io.containerd.monitor.v1.cgroups',
  // Names of the restart and cgroups plugins in containerd 2.0 and later.
  'io.containerd.monitor.container.v1.restart',
  'io.containerd.monitor.task.v1.cgroups',
];

/**
 * Returns containerd's configuration. All files are below the layout's directory, and cgroups are created with the
 * cgroupfs driver.
 */
export function containerdConfig({ layout, ...input }: ConfigInput): string {
  // TOML accepts JSON's strings, numbers, booleans and arrays of strings.
  const toToml = JSON.stringify;
  return `version = 2
root = ${toToml(layout.rootDirectory)}
state = ${toToml(layout.state)}
disabled_plugins = ${toToml(DISABLED_PLUGINS)}

[grpc]
  address = ${toToml(layout.socket)}

[debug]
  level = "warn"

# On by default since containerd 2.0: it would take the socket of the host's containerd from it, and its plugins.
[plugins."io.containerd.nri.v1.nri"]
  disable = true

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${toToml(input.sandboxImage)}
  netns_mounts_under_state_dir = true
  # For exec, attach and port-forward: only this host asks, at a port that the kernel chooses.
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  restrict_oom_score_adj = ${toToml(!input.canLowerOomScore)}

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${toToml(input.cniPlugins)}
    conf_dir = ${toToml(layout.cniConfig)}

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${toToml(input.snapshotter)}
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = ${toToml(layout.runcRoot)}
        SystemdCgroup = false
`;
}

/** Returns the CNI configuration of the pod network: a bridge, IP addresses from one subnet, and host ports. */
export function cniConfig({
  layout,
  subnet,
  mtu,
}: {
  layout: Layout;
  subnet: string;
  mtu: number | undefined;
}): string {
  const bridge = {
    type: 'bridge',
    bridge: layout.bridge,
    isGateway: true,
    // Disable the plugin's masquerading, because a single iptables rule masquerades the traffic of all pods (see
    // masquerade.ts).
    ipMasq: false,
    hairpinMode: true,
    ...(mtu === undefined ? {} : { mtu }),
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet }]],
      routes: [{ dst: '0.0.0.0/0' }],
      dataDir: layout.cniData,
    },
  };
  const portmapPlugin = { type: 'portmap', capabilities: { portMappings: true } };
  return `${JSON.stringify({ cniVersion: '1.0.0', name: layout.network, plugins: [bridge, portmapPlugin] }, null, 2)}\n`;
}
