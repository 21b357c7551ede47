import { expect, test } from '@jest/globals';
import { countObjects, findMissing } from '../../../actors/objects/objectCounts.ts';
import { watchView } from '../../../machines/node/pods/source.ts';
import { podWith } from '../../fakes/pods.ts';
import { heldCluster, shows } from './support/heldCluster.ts';

type Held = Awaited<ReturnType<typeof heldCluster>>;

/** Returns the last reported state of the objects of a kind. */
function shown({ facts }: Pick<Held, 'facts'>, kind = 'ConfigMap') {
  const told = facts.findLast((fact) => fact.type === 'cluster.watchChanged' && fact.watch === kind);
  if (told?.type !== 'cluster.watchChanged' || told.state === null) throw new Error('nothing was told');
  return watchView(kind, told.state);
}

const moment = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

test('the number of objects is shown with the strategy by which they are fetched', async () => {
  for (const strategy of ['Watch', 'Cache', 'Get'] as const) {
    const held = await heldCluster({ strategy });
    const { make, pod, store, read, clock } = held;
    await make('ConfigMap', 'app', {});
    await make('ConfigMap', 'more', {});
    const [one, two] = [await pod('one', shows('app')), await pod('two', shows('more'))];
    for (const each of [one, two]) store.follow(each);
    await read(one, 'ConfigMap', 'app');
    await read(two, 'ConfigMap', 'more');
    await clock.advance(1_000);
    const { state, facts = [] } = shown(held);
    expect([state, ...facts]).toEqual([
      'watching',
      'follows the ConfigMaps that its pods name',
      '2 objects',
      `strategy ${strategy}`,
    ]);
    store.release(two.metadata.uid);
    await clock.advance(1_000);
    expect(shown(held).facts).toContain('1 object');
    held.stop();
    await held.running;
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  }
});

test('missing objects are shown by reason, the longest missing first, until they are available', async () => {
  const held = await heldCluster();
  const { make, pod, store, clock, transport } = held;
  await make('ConfigMap', 'there', {});
  const missing = clock.now();
  store.follow(await pod('one', shows('missing')));
  await clock.advance(10_000);
  store.follow(await pod('two', shows('there')));
  // The server does not have this pod, so the node may not read the objects that it references.
  store.follow(podWith('three', shows('hidden')));
  const forbidden = clock.now();
  await clock.advance(30_000);
  expect(shown(held)).toMatchObject({
    state: 'failing',
    lastFailure: { message: expect.stringContaining('default/hidden: ') },
  });
  expect(shown(held).facts?.slice(1)).toEqual([
    '3 objects',
    'strategy Watch',
    `1 not found since ${moment(missing)} (default/missing)`,
    `1 forbidden since ${moment(forbidden)} (default/hidden)`,
  ]);
  await make('ConfigMap', 'missing', {});
  store.release('three');
  await clock.advance(1_000);
  expect(shown(held).facts?.slice(1)).not.toContainEqual(expect.stringContaining('not found'));
  const away = clock.now();
  transport.isAway = true;
  transport.cut();
  await clock.advance(120_000);
  // The state has the start of the outage, regardless of the number of attempts since then.
  const out = shown(held).facts?.find((fact) => fact.includes('out of reach'));
  expect(out).toMatch(/^[23] out of reach since /);
  expect(out).toContain(moment(away).slice(0, 16));
});

test('the object counts are published at most once a second', async () => {
  const held = await heldCluster();
  const { pod, store, clock, facts } = held;
  for (let each = 0; each < 20; each += 1) {
    store.follow(await pod(`pod-${each}`, shows(`missing-${each}`)));
    await clock.advance(50);
  }
  await clock.advance(2_000);
  const counts = facts.flatMap((fact) =>
    fact.type === 'cluster.watchChanged' && fact.state?.counts ? [JSON.stringify(fact.state.counts)] : [],
  );
  expect(shown(held).facts).toContainEqual(
    expect.stringMatching(
      /^20 not found since .* \(default\/missing-0, default\/missing-1, default\/missing-2 and 17 more\)$/,
    ),
  );
  expect(new Set(counts).size).toBeLessThanOrEqual(4);
});

test('an object name is escaped and truncated so that it cannot imitate other output', async () => {
  const held = await heldCluster();
  const { pod, store, clock } = held;
  const names = ['a\u001b[2J\nnode: all is well', 'x'.repeat(5_000), '__proto__'];
  for (const [at, name] of names.entries()) store.follow(await pod(`pod-${at}`, shows(name)));
  await clock.advance(20_000);
  const text = shown(held).facts?.join('\n') ?? '';
  expect(text).toContain(String.raw`"default/a\x1b[2J\nnode: all is well"`);
  expect(text).not.toContain('\u001b');
  expect(text).toContain('default/__proto__');
  expect(text.length).toBeLessThan(1_000);
});

test('a missing object preserves its start time and reason while it is fetched again', () => {
  const lacking = { why: 'forbidden', since: 1_000 };
  const failing = { state: 'failing', failure: 'no', why: 'out of reach' } as const;
  expect(findMissing({ step: failing, object: null, missing: lacking }, 2_000)).toEqual({
    why: 'out of reach',
    since: 1_000,
  });
  expect(findMissing({ step: { state: 'reading' }, object: null, missing: lacking }, 2_000)).toBe(lacking);
  expect(findMissing({ step: { state: 'watching' }, object: null, missing: lacking }, 2_000)).toEqual({
    why: 'not found',
    since: 1_000,
  });
  expect(findMissing({ step: { state: 'reading' }, object: undefined }, 2_000)).toEqual({
    why: 'unread',
    since: 2_000,
  });
  expect(countObjects([], 'Get')).toEqual({ strategy: 'Get', objectCount: 0, unavailableObjects: [] });
});
