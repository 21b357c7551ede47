import type { PodSpec } from '../api/schema/pod.ts';
import type { Refusal } from './refusal.ts';

/** The sysctls that are safe for a pod to set, each with the kernel since which it belongs to a namespace. */
const SAFE: readonly (readonly [name: string, since?: readonly [number, number]])[] = [
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

/** The safe sysctls of a kernel, by its release (`6.1.0-18-amd64`). */
export function safeSysctls(release: string): string[] {
  const [major = 0, minor = 0] = release.split(/[.-]/).map(Number);
  const isThere = ([needed, minorNeeded]: readonly [number, number]) =>
    major > needed || (major === needed && minor >= minorNeeded);
  return SAFE.flatMap(([name, since]) => (since === undefined || isThere(since) ? [name] : []));
}

/** A sysctl's name with dots between its parts; where the first separator is a slash, dots and slashes change places. */
export function dottedSysctl(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

/** The kernel's namespace that a sysctl belongs to: it is the pod's own unless the pod shares that of the host. */
export function sysctlNamespace(name: string): 'ipc' | 'net' | undefined {
  if (name.startsWith('net.')) return 'net';
  const ipc = name === 'kernel.sem' || ['kernel.shm', 'kernel.msg', 'fs.mqueue.'].some((each) => name.startsWith(each));
  return ipc ? 'ipc' : undefined;
}

const PART = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';

/** A sysctl's name, its parts separated by dots or slashes. */
export const SYSCTL_NAME = new RegExp(`^(${PART}[./])*${PART}$`);

/** Such a name, or the beginning of several with a `*` behind it. */
const SYSCTL_PATTERN = new RegExp(`^(${PART}[./])*${PART}\\*?$|^(${PART}[./])+\\*$`);

/** What is wrong with a pattern of sysctls to allow; undefined when it may be allowed. */
export function sysctlPatternProblem(pattern: string): string | undefined {
  if (pattern.length > 253 || !SYSCTL_PATTERN.test(pattern))
    return `${JSON.stringify(pattern)} is no sysctl or prefix of some`;
  const name = dottedSysctl(pattern).replace(/\*$/, '');
  if (sysctlNamespace(name) !== undefined) return undefined;
  return `the sysctls ${JSON.stringify(pattern)} are not known to be namespaced`;
}

/** Why the node does not take a pod for its sysctls. */
export function sysctlRefusal(spec: PodSpec, allowed: readonly string[]): Refusal | undefined {
  const patterns = allowed.map(dottedSysctl);
  for (const sysctl of spec.securityContext?.sysctls ?? []) {
    const name = dottedSysctl(sysctl.name);
    const why = forbidden(name, patterns, spec);
    if (why) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(name)} ${why}` };
  }
  return undefined;
}

function forbidden(name: string, patterns: readonly string[], spec: PodSpec): string | undefined {
  const isAllowed = patterns.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
  if (!isAllowed) return 'not allowlisted';
  const namespace = sysctlNamespace(name);
  const shared = (namespace === 'net' && spec.hostNetwork) || (namespace === 'ipc' && spec.hostIPC);
  return shared ? `not allowed with host ${namespace} enabled` : undefined;
}
