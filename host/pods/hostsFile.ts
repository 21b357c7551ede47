/** The pod's /etc/hosts (C18): its own addresses and aliases, or the node's file for a pod on the host's network. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podDomain, podHostname } from '../../kubernetes/environment/hostname.ts';
import type { Layout } from './layout.ts';

interface HostsFileInput {
  readonly pod: Pod;
  readonly layout: Layout;
  /** The pod's addresses, the primary first. */
  readonly ips: readonly string[];
  /** What a pod with a subdomain is known under, too. */
  readonly clusterDomain: string;
  /** The node's own file, by default `/etc/hosts`. */
  readonly nodeHostsFile?: string;
  readonly signal: AbortSignal;
}

const LOCAL_NAMES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/**
 * Writes `<poddir>/etc-hosts` (0644), to be called when the sandbox has its addresses and before containers are made.
 * It is written in place, so that containers that have it mounted see the new content.
 */
export async function writeHostsFile(input: HostsFileInput): Promise<void> {
  const { layout, pod, signal } = input;
  const file = layout.hostsFile(pod.metadata.uid);
  await layout.files.writeFile(file, await content(input), { signal });
  await layout.files.chmod(file, 0o644);
}

async function content(input: HostsFileInput): Promise<string> {
  const aliases = aliasLines(input.pod);
  if (input.pod.spec.hostNetwork === true) {
    const node = await nodeHosts(input);
    return `# Kubernetes-managed hosts file (host network).\n${node}${aliases}`;
  }
  const own = input.ips.map((ip) => `${ip}\t${podNames(input)}`);
  return `# Kubernetes-managed hosts file.\n${[...LOCAL_NAMES, ...own].join('\n')}\n${aliases}`;
}

function podNames({ pod, clusterDomain }: HostsFileInput): string {
  const hostname = podHostname(pod);
  const domain = podDomain(pod, clusterDomain);
  return domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
}

function aliasLines(pod: Pod): string {
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${[ip, ...hostnames].join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}

/** One that cannot be read keeps the container waiting: an empty one would only look right. */
async function nodeHosts({ layout, nodeHostsFile = '/etc/hosts', signal }: HostsFileInput): Promise<string> {
  try {
    return await layout.files.readFile(nodeHostsFile, { signal });
  } catch (cause) {
    throw new NodeFailure('CreateContainerConfigError', messageOf(cause), { cause });
  }
}
