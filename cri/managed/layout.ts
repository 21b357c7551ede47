import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { resolveLinks } from '../../host/files/withoutLinks.ts';

/** Paths of a private containerd, and the names of its resources outside its directory. */
export interface Layout {
  readonly directory: string;
  readonly config: string;
  readonly log: string;
  readonly pidFile: string;
  readonly bootIdFile: string;
  readonly rootDirectory: string;
  readonly state: string;
  /** Bundles of tasks, with one directory per sandbox or container. */
  readonly bundles: string;
  /** State of runc, with one directory per container. */
  readonly runcRoot: string;
  /** Network namespaces of the sandboxes, each pinned by a mount. */
  readonly netNamespaces: string;
  readonly cniConfig: string;
  readonly cniData: string;
  readonly subnetFile: string;
  readonly socket: string;
  /** Directory for the socket. Used only if the path of `directory` is too long for a socket. */
  readonly shortDirectory: string;
  /** Name of the CNI network. The iptables rules of the network are marked with it. */
  readonly network: string;
  readonly bridge: string;
  readonly cgroupParent: string;
}

/** Directory for data that private containerds on a host share. It does not survive a reboot. */
export const SHARED_DIRECTORY = '/run/statelet';

/** containerd's namespace for objects of the CRI. */
export const CRI_NAMESPACE = 'k8s.io';

/** Maximum length of a unix socket's path in bytes, without the NUL. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Returns the layout for a directory. Symbolic links are resolved first, so that the paths match the kernel's list of
 * mounts and the derived names do not depend on how the directory was reached.
 */
export function layoutOf(directory: string): Layout {
  const realDirectory = resolveLinks(resolve(directory));
  const hash = createHash('sha256').update(realDirectory).digest('hex');
  const shortDirectory = join(SHARED_DIRECTORY, hash.slice(0, 12));
  const toPath = (...segments: string[]) => join(realDirectory, ...segments);
  return {
    directory: realDirectory,
    config: toPath('config.toml'),
    log: toPath('containerd.log'),
    pidFile: toPath('containerd.pid'),
    bootIdFile: toPath('boot-id'),
    rootDirectory: toPath('root'),
    state: toPath('state'),
    bundles: toPath('state', 'io.containerd.runtime.v2.task', CRI_NAMESPACE),
    runcRoot: toPath('state', 'runc'),
    netNamespaces: toPath('state', 'io.containerd.grpc.v1.cri', 'netns'),
    cniConfig: toPath('cni', 'net.d'),
    cniData: toPath('cni', 'networks'),
    subnetFile: toPath('cni', 'subnet'),
    socket: join(fitsSocketPath(realDirectory) ? realDirectory : shortDirectory, 'containerd.sock'),
    shortDirectory,
    network: `statelet-${hash.slice(0, 12)}`,
    bridge: `statelet${hash.slice(0, 7)}`,
    cgroupParent: `/statelet-${hash.slice(0, 12)}`,
  };
}

/**
 * Whether the paths of the sockets are short enough. In addition to the main socket, containerd creates one with the
 * suffix `.ttrpc`.
 */
function fitsSocketPath(directory: string): boolean {
  return Buffer.byteLength(join(directory, 'containerd.sock.ttrpc')) <= MAX_SOCKET_PATH_BYTES;
}
