import { rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { readFileText } from '../fakes/manifests.ts';
import { preciseNow } from './statistics.ts';

/** Name of the agent's node. */
export const nodeName = 'bench';

/**
 * Behaviour of the pods: do nothing, respond to an HTTP readiness probe every second, run the command of a probe every
 * `execSeconds` seconds, or be probed at port `askedAt` of this host.
 */
export type Kind = 'idle' | 'probed' | { readonly execSeconds: number } | { readonly askedAt: number };

/** Number of containers of a pod that is probed at a port of this host. */
export const ASKED = 10;

/**
 * Returns the manifest of the measured pod. It has one volume and one container, which exits immediately on SIGTERM.
 */
export function manifest(name: string, kind: Kind = 'idle'): string {
  if (typeof kind === 'object' && 'askedAt' in kind) return askedManifest(name, kind.askedAt);
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  volumes:
    - name: data
      emptyDir: {}
  containers:
    - name: main
      image: ${BUSYBOX_IMAGE}
${kind === 'probed' ? PROBED : PATIENT}${typeof kind === 'object' ? execProbe(kind.execSeconds) : ''}
      volumeMounts:
        - name: data
          mountPath: /data
`;
}

/** Returns the manifest of a pod of which one probe never gets a response: `/hangs`. */
function askedManifest(name: string, port: number): string {
  const containers = Array.from({ length: ASKED }, (_, index) => ({
    name: `c${index}`,
    image: BUSYBOX_IMAGE,
    readinessProbe: {
      httpGet: { host: '127.0.0.1', port, path: index === 0 ? '/hangs' : `/${name}/${index}` },
      periodSeconds: 1,
    },
  }));
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers } });
}

const execProbe = (seconds: number) => `
      readinessProbe:
        exec: { command: ['true'] }
        periodSeconds: ${seconds}`;

const PATIENT = `      command: [sh, -c, 'trap "exit 0" TERM; sleep 100000 & wait']`;
const PROBED = `      command: [sh, -c, 'httpd -p 8080 -h /etc; trap "exit 0" TERM; sleep 100000 & wait']
      readinessProbe:
        httpGet: { path: /passwd, port: 8080 }
        periodSeconds: 1`;

/** Returns the pod that a node creates from the manifest of this name in a directory. */
export function podNamed(name: string, directory: string): Pod {
  const file = join(directory, `${name}.yaml`);
  const read = readFileText(manifest(name), { origin: file, nodeName });
  if ('problems' in read) throw new Error(read.problems.map(({ message }) => message).join('; '));
  if (!('pod' in read)) throw new Error(`${name} is no pod`);
  return read.pod;
}

/**
 * Writes manifests next to a directory, so that `add` can move them into it at once. `add` returns the time at which
 * the first one was moved, in milliseconds since the epoch.
 */
export async function prepareManifests(
  names: readonly string[],
  directory: string,
  kind?: Kind,
): Promise<{ add(): Promise<number> }> {
  const waiting = (name: string) => `${directory}.${name}`;
  for (const name of names) await writeFile(waiting(name), manifest(name, kind));
  return {
    add: async () => {
      const at = preciseNow();
      await Promise.all(names.map((name) => rename(waiting(name), join(directory, `${name}.yaml`))));
      return at;
    },
  };
}

/** Removes manifests. Returns the time at which the first one was removed, in milliseconds since the epoch. */
export async function removeManifests(names: readonly string[], directory: string): Promise<number> {
  const at = preciseNow();
  await Promise.all(names.map((name) => unlink(join(directory, `${name}.yaml`))));
  return at;
}
