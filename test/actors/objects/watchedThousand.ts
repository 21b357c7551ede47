/**
 * Program that watches a thousand ConfigMaps that pods mount, and prints how much memory that takes. The address and
 * the CA of the server come from stdin. It needs `--expose-gc`, so that unreferenced objects are not counted.
 */
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { clusterObjects } from '../../../actors/objects/clusterObjects.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { Http2Transport } from '../../../kubeclient/http2/http2Transport.ts';
import { podWith } from '../../fakes/pods.ts';

const { gc } = globalThis;
if (gc === undefined) throw new Error('run it with --expose-gc');
const { port, ca, token } = JSON.parse(await text(process.stdin));
const [PODS, VOLUMES] = [100, 10];

const transport = new Http2Transport(
  {
    origin: `https://127.0.0.1:${port}`,
    basePath: '',
    isInsecure: false,
    credentials: {
      context: async () => createSecureContext({ ca }),
      token: async () => token,
      handleUnauthorized: () => {},
    },
  },
  systemClock,
);
const client = new KubeClient({ transport, clock: systemClock, userAgent: 'statelet/test' });
const store = clusterObjects({
  client,
  clock: systemClock,
  jitter: Math.random,
  files: hostFiles,
  listPodDirs: async () => [],
  ownNode: { current: undefined },
  settings: { strategy: 'Watch', syncMs: 60_000 },
  onError: console.error,
});
const { signal } = new AbortController();
void store.run(() => {}, { signal });

function podShowing(names: readonly string[]) {
  const pod = podWith('p', { volumes: names.map((name) => ({ name, configMap: { name } })) });
  return { ...pod, metadata: { ...pod.metadata, uid: names.join() } };
}

async function read(names: readonly string[]): Promise<void> {
  const pod = podShowing(names);
  store.follow(pod);
  const readUntilPresent = (name: string): Promise<unknown> =>
    store.get(pod, 'ConfigMap', name, { signal }).catch(() => pause(20).then(() => readUntilPresent(name)));
  await Promise.all(names.map(readUntilPresent));
}

/** Returns the memory in use after a garbage collection, in MiB. */
async function held(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    gc?.();
    await pause(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

// One connection and all required code take memory in any case, so they are loaded before the measurement.
await read(['c0']);
const before = await held();
for (let pod = 0; pod < PODS; pod += 1)
  await read(Array.from({ length: VOLUMES }, (_, index) => `c${pod * VOLUMES + index}`));
console.log(JSON.stringify({ held: (await held()) - before }));
process.exit();
