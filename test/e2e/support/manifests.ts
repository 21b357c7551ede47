import { BUSYBOX_IMAGE } from '../../../cri/managed/images/images.ts';
import { withDefaults } from '../../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';

/** A manifest as a user writes it. */
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

/** A pod of these containers. */
export function podManifest(
  name: string,
  containers: readonly Container[],
  { uid, ...spec }: Partial<PodSpec> & { uid?: string } = {},
): Manifest {
  const metadata = { name, ...(uid === undefined ? {} : { uid }) };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [...containers], ...spec } };
}

/** A pod as an API server hands it on: with its defaults, and the uid `uid-<name>`. */
export function apiPod(name: string, containers: readonly Container[], spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name, namespace: 'default', uid: `uid-${name}` };
  return withDefaults({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [...containers], ...spec } });
}

/** A container that runs a shell script. */
export function shell(name: string, script: string, more: Partial<Container> = {}): Container {
  return { name, image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ...more };
}

/** Ends at once on SIGTERM; without a trap the first process of a container ignores it. */
const patiently = 'sleep 1000 & wait';

/** A script that does something and then goes on until SIGTERM, and ends after `last`. */
export function steadily(first = ':', last = ':'): string {
  return `trap '${last}; exit 0' TERM; ${first}; ${patiently}`;
}

/** A container that goes on until SIGTERM, and counts as running only when it hears that. */
export function hearing(name: string, more: Partial<Container> = {}): Container {
  const exec = { command: ['sh', '-c', 'until [ -e /tmp/hears ]; do sleep 0.1; done'] };
  return shell(name, steadily('mkdir -p /tmp; touch /tmp/hears'), { lifecycle: { postStart: { exec } }, ...more });
}

/** Goes on through SIGTERM. */
export const stubbornly = `trap '' TERM; ${patiently}`;
