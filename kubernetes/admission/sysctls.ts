import type { PodSpec } from '../api/schema/pod.ts';
import type { Refusal } from './refusal.ts';

/** Sysctls that a pod can set safely, each with the first kernel version in which it is namespaced. */
const SAFE_SYSCTLS: readonly (readonly [name: string, since?: readonly [number, number]])[] = [
  ['kernel.shm_rmid_forced'],
  ['net.ipv4.ip_local_port_range'],
  ['net.ipv4.tcp_syncookies'],
  ['net.ipv4.ping_group_range'],
  ['net.ipv4.ip_unprivileged_port_start'],
  ['net.ipv4.ip_local_reserved_ports', [3, 16]],
  ['net.ipv4.tcp_keepalive_time', [4, 5]],
  ['net.ipv4.tcp_fin_timeout', [4, 6]],
  ['net.ipv4.tcp_keepalive_intvl', [4, 5]],
  ['net.ipv4.tcp_keepalive_probes', [4, 5]],
  ['net.ipv4.tcp_rmem', [4, 15]],
  ['net.ipv4.tcp_wmem', [4, 15]],
];

/** Returns the safe sysctls of a kernel release such as `6.1.0-18-amd64`. */
export function safeSysctls(release: string): string[] {
  const [major = 0, minor = 0] = release.split(/[.-]/).map(Number);
  const isSupported = ([majorNeeded, minorNeeded]: readonly [number, number]) =>
    major > majorNeeded || (major === majorNeeded && minor >= minorNeeded);
  return SAFE_SYSCTLS.flatMap(([name, since]) => (since === undefined || isSupported(since) ? [name] : []));
}

/** Returns a sysctl's name with dots as separators. If the first separator is a slash, dots and slashes are swapped. */
export function dottedSysctl(name: string): string {
  const firstSeparator = /[./]/.exec(name)?.[0];
  if (firstSeparator !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

/**
 * Returns the kind of Linux namespace that isolates a sysctl. A pod has its own namespace of that kind unless it shares
 * the host's.
 */
export function sysctlNamespace(name: string): 'ipc' | 'net' | undefined {
  if (name.startsWith('net.')) return 'net';
  const isIpc =
    name === 'kernel.sem' || ['kernel.shm', 'kernel.msg', 'fs.mqueue.'].some((each) => name.startsWith(each));
  return isIpc ? 'ipc' : undefined;
}

const NAME_PART_PATTERN = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';

/** Pattern of a sysctl's name, whose parts are separated by dots or slashes. */
export const SYSCTL_NAME_PATTERN = new RegExp(`^(${NAME_PART_PATTERN}[./])*${NAME_PART_PATTERN}$`);

/** Pattern of a sysctl's name or of a name prefix that ends in `*`. */
const SYSCTL_PATTERN = new RegExp(
  `^(${NAME_PART_PATTERN}[./])*${NAME_PART_PATTERN}\\*?$|^(${NAME_PART_PATTERN}[./])+\\*$`,
);

/** Explains why a sysctl pattern must not be in the node's allowlist. Returns undefined if it may be. */
export function sysctlPatternProblem(pattern: string): string | undefined {
  if (pattern.length > 253 || !SYSCTL_PATTERN.test(pattern))
    return `${JSON.stringify(pattern)} is no sysctl or prefix of some`;
  const name = dottedSysctl(pattern).replace(/\*$/, '');
  if (sysctlNamespace(name) !== undefined) return undefined;
  return `the sysctls ${JSON.stringify(pattern)} are not known to be namespaced`;
}

/** Returns the refusal if the pod sets a sysctl that the node does not allow. */
export function sysctlRefusal(spec: PodSpec, allowed: readonly string[]): Refusal | undefined {
  const patterns = allowed.map(dottedSysctl);
  for (const sysctl of spec.securityContext?.sysctls ?? []) {
    const name = dottedSysctl(sysctl.name);
    const detail = forbiddenReason(name, patterns, spec);
    if (detail) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(name)} ${detail}` };
  }
  return undefined;
}

function forbiddenReason(name: string, patterns: readonly string[], spec: PodSpec): string | undefined {
  const isAllowed = patterns.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
  if (!isAllowed) return 'not allowlisted';
  const namespace = sysctlNamespace(name);
  const isHostNamespace = (namespace === 'net' && spec.hostNetwork) || (namespace === 'ipc' && spec.hostIPC);
  return isHostNamespace ? `not allowed with host ${namespace} enabled` : undefined;
}
