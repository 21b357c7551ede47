/**
 * Writes a pod's /etc/hosts (C18), which contains the pod's addresses and aliases. For a pod on the host network, the
 * file is a copy of the node's file.
 */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podDomain, podHostname } from '../../kubernetes/environment/hostname.ts';
import type { Layout } from './layout.ts';

interface HostsFileInput {
  readonly pod: Pod;
  readonly layout: Layout;
  /** IP addresses of the pod, with the primary one first. */
  readonly ips: readonly string[];
  /** Cluster domain, which is appended to the host name of a pod that has a `subdomain`. */
  readonly clusterDomain: string;
  /** Path of the node's hosts file. Defaults to `/etc/hosts`. */
  readonly nodeHostsFile?: string;
  readonly signal: AbortSignal;
}

const LOCALHOST_LINES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/**
 * Writes `<poddir>/etc-hosts` (0644). Must be called when the sandbox has its IP addresses and before containers are
 * created. The file is written in place, so that containers that have mounted it see the new contents.
 */
export async function writeHostsFile(input: HostsFileInput): Promise<void> {
  const { layout, pod, signal } = input;
  const file = layout.hostsFile(pod.metadata.uid);
  await layout.files.writeFile(file, await buildHostsFile(input), { signal });
  await layout.files.chmod(file, 0o644);
}

async function buildHostsFile(input: HostsFileInput): Promise<string> {
  const aliasText = aliasLines(input.pod);
  if (input.pod.spec.hostNetwork === true) {
    const nodeEntries = await readNodeHosts(input);
    return `# Kubernetes-managed hosts file (host network).\n${nodeEntries}${aliasText}`;
  }
  const podEntries = input.ips.map((ip) => `${ip}\t${podHostnames(input)}`);
  return `# Kubernetes-managed hosts file.\n${[...LOCALHOST_LINES, ...podEntries].join('\n')}\n${aliasText}`;
}

function podHostnames({ pod, clusterDomain }: HostsFileInput): string {
  const hostname = podHostname(pod);
  const domain = podDomain(pod, clusterDomain);
  return domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
}

function aliasLines(pod: Pod): string {
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const formattedLines = aliases.map(({ ip, hostnames = [] }) => `${[ip, ...hostnames].join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${formattedLines.join('')}`;
}

/**
 * Reads the node's hosts file. Throws if it cannot be read, so that the container is not created with an empty file,
 * which would only appear to work.
 */
async function readNodeHosts({ layout, nodeHostsFile = '/etc/hosts', signal }: HostsFileInput): Promise<string> {
  try {
    return await layout.files.readFile(nodeHostsFile, { signal });
  } catch (cause) {
    throw new NodeFailure('CreateContainerConfigError', messageOf(cause), { cause });
  }
}
