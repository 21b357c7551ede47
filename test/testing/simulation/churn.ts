/**
 * A process of its own: pods come to a simulated node and go again, so many of them as the first argument says. Prints
 * which maps and sets of the agent have more in them in the end than after the first of the pods, each by the place in
 * the code where it was made. Needs `--expose-gc`: what nobody holds any more is not the agent's.
 */

/** The number of pods that come and go at the same time. */
const BATCH = 25;
const { gc } = globalThis;
if (gc === undefined) throw new Error('run it with --expose-gc');

interface Collection {
  readonly size: number;
}

/** What was made since then, as long as somebody holds it, and the place in the code. */
let made: { readonly ref: WeakRef<Collection>; readonly place: string }[] = [];
const root = import.meta.dirname.slice(0, -'test/testing/simulation'.length);
Error.stackTraceLimit = 1;

/** Notes what was made, for whoever called its constructor. */
function note(collection: Collection, by: new () => Collection): void {
  const here = { stack: '' };
  Error.captureStackTrace(here, by);
  // Written out at once: until then a stack holds what it has come through.
  made.push({ ref: new WeakRef(collection), place: here.stack });
}

const placeOf = (stack: string): string =>
  (stack.split('\n')[1] ?? '').trim().replace(/^at /, '').replace('file://', '').replace(root, '');

/** Who may use each image that is on the node: images stay when pods go. */
const OF_IMAGES = /actors\/images\/pullRecords\.ts/;

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

// What it loads is to find these.
const { simulateNode } = await import('../../../testing/simulation/simulateNode.ts');
const { container, manifest } = await import('../../../testing/simulation/stories/manifests.ts');

/** A pod with a bit of everything that the agent keeps something of. */
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

/** Forgets what nobody holds any more. */
async function collected(): Promise<void> {
  // What was held by promises that are done is let go of in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  gc?.();
  made = made.filter(({ ref }) => ref.deref() !== undefined);
}

/** How much is in what was made at each place of the agent, with how many were made there. */
function sizes(): ReadonlyMap<string, number> {
  const counts: Record<string, number> = Object.create(null);
  for (const { ref, place: stack } of made) {
    const place = placeOf(stack);
    if (isAgents(place)) counts[place] = (counts[place] ?? 0) + 1 + (ref.deref()?.size ?? 0);
  }
  return new Map(Object.entries(counts).filter(([place]) => !OF_IMAGES.test(place)));
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
