import { BUSYBOX_IMAGE } from '../../../cri/managed/images/images.ts';
import { withDefaults } from '../../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';

/** A pod manifest as written by a user. */
export interface Manifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** Returns the manifest of a pod with these containers. */
export function podManifest(
  name: string,
  containers: readonly Container[],
  { uid, ...spec }: Partial<PodSpec> & { uid?: string } = {},
): Manifest {
  const metadata = { name, ...(uid === undefined ? {} : { uid }) };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [...containers], ...spec } };
}

/** Returns a pod as an API server would deliver it: with defaults, and with the UID `uid-<name>`. */
export function apiPod(name: string, containers: readonly Container[], spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name, namespace: 'default', uid: `uid-${name}` };
  return withDefaults({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [...containers], ...spec } });
}

/** Returns a container that runs a shell script. */
export function shell(name: string, script: string, more: Partial<Container> = {}): Container {
  return { name, image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ...more };
}

/**
 * Waits in a way that lets a trap for SIGTERM run at once. Without a trap, the first process of a container ignores the
 * signal.
 */
const patiently = 'sleep 1000 & wait';

/** Returns a script that runs `first`, waits for SIGTERM, runs `last` and exits with 0. */
export function steadily(first = ':', last = ':'): string {
  return `trap '${last}; exit 0' TERM; ${first}; ${patiently}`;
}

/** Returns a container that runs until SIGTERM. Its postStart hook waits until it handles the signal. */
export function hearing(name: string, more: Partial<Container> = {}): Container {
  const exec = { command: ['sh', '-c', 'until [ -e /tmp/hears ]; do sleep 0.1; done'] };
  return shell(name, steadily('mkdir -p /tmp; touch /tmp/hears'), { lifecycle: { postStart: { exec } }, ...more });
}

/** Ignores SIGTERM. */
export const stubbornly = `trap '' TERM; ${patiently}`;
