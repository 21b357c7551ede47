/**
 * Runs as a separate process. Creates pods on a simulated node and removes them again; the first argument is the number
 * of pods. Prints the maps and sets of the agent that have more entries at the end than after the first pods, by the
 * source location that created them. Needs `--expose-gc`, because collections that are no longer referenced must not
 * count.
 */

/** Number of pods that are created and removed together. */
const BATCH = 25;
const { gc } = globalThis;
if (gc === undefined) throw new Error('run it with --expose-gc');

interface Collection {
  readonly size: number;
}

/** The maps and sets created so far that are still referenced, with the source location that created each of them. */
let collections: { readonly ref: WeakRef<Collection>; readonly place: string }[] = [];
const root = import.meta.dirname.slice(0, -'test/testing/simulation'.length);
Error.stackTraceLimit = 1;

/** Records a new collection, with the location at which its constructor was called. */
function note(collection: Collection, by: new () => Collection): void {
  const here = { stack: '' };
  Error.captureStackTrace(here, by);
  // Read the stack now, because an unformatted stack retains the frames that it has captured.
  collections.push({ ref: new WeakRef(collection), place: here.stack });
}

const placeOf = (stack: string): string =>
  (stack.split('\n')[1] ?? '').trim().replace(/^at /, '').replace('file://', '').replace(root, '');

/** The records of who may use each image on the node grow with every pod, because images stay when pods are removed. */
const IMAGE_RECORDS = /actors\/images\/pullRecords\.ts/;

const isAgents = (place: string) => !/(^|[/(])(simulat(ed|ion)|node_modules)\/|\(?node:/.test(place);

globalThis.Map = class NotedMap<K, V> extends Map<K, V> {
  constructor(entries?: Iterable<readonly [K, V]> | null) {
    super(entries);
    note(this, NotedMap);
  }
};
globalThis.Set = class NotedSet<T> extends Set<T> {
  constructor(values?: Iterable<T> | null) {
    super(values);
    note(this, NotedSet);
  }
};

// Import these modules after the classes are replaced, so that they use the replacements.
const { simulateNode } = await import('../../../testing/simulation/simulateNode.ts');
const { container, manifest } = await import('../../../testing/simulation/stories/manifests.ts');

/** Returns a pod that uses most of the features for which the agent stores data. */
function pod(name: string) {
  const handler = { exec: { command: ['true'] } };
  return manifest(name, {
    volumes: [{ name: 'scratch', emptyDir: {} }],
    initContainers: [container('setup', { command: ['true'] })],
    containers: [
      container('main', {
        image: `registry.local/${name}:1`,
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        readinessProbe: { ...handler, periodSeconds: 2 },
        lifecycle: { postStart: handler, preStop: handler },
        resources: { requests: { cpu: '10m' }, limits: { cpu: '20m' } },
      }),
      container('fails', { command: ['sh', '-c', 'sleep 3; exit 1'] }),
    ],
  });
}

const node = await simulateNode({ seed: 1 });

async function churn(from: number, to: number): Promise<void> {
  const names = Array.from({ length: to - from }, (_, index) => `pod-${from + index}`);
  for (const name of names) node.apply(pod(name));
  await node.advance(12_000);
  for (const name of names) node.remove(name);
  await node.advance(75_000);
  await collected();
}

/** Collects garbage, and drops the collections that are no longer referenced. */
async function collected(): Promise<void> {
  // Settled promises release what they reference in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  gc?.();
  collections = collections.filter(({ ref }) => ref.deref() !== undefined);
}

/** Returns the number of collections plus their entries, for each source location of the agent. */
function sizes(): ReadonlyMap<string, number> {
  const counts: Record<string, number> = Object.create(null);
  for (const { ref, place: stack } of collections) {
    const place = placeOf(stack);
    if (isAgents(place)) counts[place] = (counts[place] ?? 0) + 1 + (ref.deref()?.size ?? 0);
  }
  return new Map(Object.entries(counts).filter(([place]) => !IMAGE_RECORDS.test(place)));
}

const many = Number(process.argv[2]);
await churn(0, BATCH);
await churn(BATCH, 2 * BATCH);
const before = sizes();
const heapBefore = process.memoryUsage().heapUsed;
for (let from = 2 * BATCH; from < many; from += BATCH) await churn(from, from + BATCH);
const after = sizes();
const grown = [...after].filter(([place, size]) => size > (before.get(place) ?? 0));
const perPod = Math.round((process.memoryUsage().heapUsed - heapBefore) / (many - 2 * BATCH));
const left = node.pods().length;
process.stdout.write(
  JSON.stringify({
    places: after.size,
    left,
    perPod,
    grown: grown.map(([place, size]) => [place, before.get(place) ?? 0, size]),
  }),
);
node.kill();
