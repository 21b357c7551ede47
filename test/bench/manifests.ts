import { rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { readFileText } from '../fakes/manifests.ts';
import { preciseNow } from './statistics.ts';

/** The name of the agent's node. */
export const nodeName = 'bench';

/**
 * What the pods do: nothing; answer the readiness probe that asks them every second; have one that runs a command every
 * so many seconds; or be asked for at a port here.
 */
export type Kind = 'idle' | 'probed' | { readonly execSeconds: number } | { readonly askedAt: number };

/** The containers of a pod that is asked for at a port of this host. */
export const ASKED = 10;

/** The pod that is measured: one container that ends at once on SIGTERM, and one volume. */
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

/** Of its probes one is never answered: `/hangs`. */
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

/** The pod that a node makes of the manifest of this name in a directory. */
export function podNamed(name: string, directory: string): Pod {
  const file = join(directory, `${name}.yaml`);
  const read = readFileText(manifest(name), { origin: file, nodeName });
  if ('problems' in read) throw new Error(read.problems.map(({ message }) => message).join('; '));
  if (!('pod' in read)) throw new Error(`${name} is no pod`);
  return read.pod;
}

/**
 * Manifests that lie ready beside a directory, to come into it whole and at once: `add` gives the moment at which the
 * first one came, in milliseconds since the epoch.
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

/** Takes manifests away; gives the moment at which the first one went, in milliseconds since the epoch. */
export async function removeManifests(names: readonly string[], directory: string): Promise<number> {
  const at = preciseNow();
  await Promise.all(names.map((name) => unlink(join(directory, `${name}.yaml`))));
  return at;
}
