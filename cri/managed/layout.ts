import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { withoutLinks } from '../../host/files/withoutLinks.ts';

/** Where everything of one private containerd lies, and the names of what it has outside its directory. */
export interface Layout {
  readonly directory: string;
  readonly config: string;
  readonly log: string;
  readonly pidFile: string;
  readonly bootIdFile: string;
  readonly root: string;
  readonly state: string;
  /** What containerd has of tasks, a directory a sandbox or container. */
  readonly bundles: string;
  /** The runtime's own state, a directory a container. */
  readonly runcRoot: string;
  /** The network namespaces of its sandboxes, each held by a mount. */
  readonly netNamespaces: string;
  readonly cniConfig: string;
  readonly cniData: string;
  readonly subnetFile: string;
  readonly socket: string;
  /** Holds the socket when the path of the directory is too long for one. */
  readonly shortDirectory: string;
  /** Name of the CNI network, of the cgroup, and of every rule that the network makes. */
  readonly network: string;
  readonly bridge: string;
  readonly cgroupParent: string;
}

/** The directory of what private containerds share on a host; it is gone after a boot. */
export const sharedDirectory = '/run/statelet';

/** containerd's name for what the CRI makes. */
export const NAMESPACE = 'k8s.io';

/** Bytes that the kernel takes for the path of a unix socket, without the NUL. */
const socketPathLimit = 107;

/**
 * The layout of the private containerd of a directory: the same directory always gives the same names, whatever links
 * lead to it, as the kernel's list of mounts does.
 */
export function layoutOf(directory: string): Layout {
  const absolute = withoutLinks(resolve(directory));
  const hash = createHash('sha256').update(absolute).digest('hex');
  const shortDirectory = join(sharedDirectory, hash.slice(0, 12));
  const inside = (...parts: string[]) => join(absolute, ...parts);
  return {
    directory: absolute,
    config: inside('config.toml'),
    log: inside('containerd.log'),
    pidFile: inside('containerd.pid'),
    bootIdFile: inside('boot-id'),
    root: inside('root'),
    state: inside('state'),
    bundles: inside('state', 'io.containerd.runtime.v2.task', NAMESPACE),
    runcRoot: inside('state', 'runc'),
    netNamespaces: inside('state', 'io.containerd.grpc.v1.cri', 'netns'),
    cniConfig: inside('cni', 'net.d'),
    cniData: inside('cni', 'networks'),
    subnetFile: inside('cni', 'subnet'),
    socket: join(socketFits(absolute) ? absolute : shortDirectory, 'containerd.sock'),
    shortDirectory,
    network: `statelet-${hash.slice(0, 12)}`,
    bridge: `statelet${hash.slice(0, 7)}`,
    cgroupParent: `/statelet-${hash.slice(0, 12)}`,
  };
}

/** containerd listens beside its socket on a second one with a longer name. */
function socketFits(directory: string): boolean {
  return Buffer.byteLength(join(directory, 'containerd.sock.ttrpc')) <= socketPathLimit;
}
