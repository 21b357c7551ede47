/** Manifests on a disk that fails at each call. An unreadable manifest is reported, and terminates no pod. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { watchManifests } from '../../../actors/sources/fileSource.ts';
import type { ManifestSet, StoredManifest } from '../../../actors/sources/manifest/manifestSet.ts';
import { failuresOf, type Trouble, TroubledDisk } from '../../fakes/disk.ts';
import { readAtOnce } from '../../fakes/manifests.ts';

const DIRECTORY = '/etc/kubernetes/manifests';
const LIST_MS = 20_000;

const manifest = (name: string, image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;

const shown = ({ pods }: ManifestSet) =>
  pods.map(({ metadata, spec }) => `${metadata.name.replace('-node-1', '')} ${spec.containers[0]?.image}`);

/** Watches manifests that change. `good` contains the last good manifests from before a restart. */
async function play(trouble?: Trouble, good = new Map<string, StoredManifest>()) {
  const clock = new SimulatedClock();
  const disk = new TroubledDisk(() => clock.now());
  const { files, sound } = disk;
  await sound.mkdir(DIRECTORY, { recursive: true });
  const write = async (name: string, image: string) => {
    await sound.writeFile(`${DIRECTORY}/.${name}`, manifest(name, image));
    await sound.rename(`${DIRECTORY}/.${name}`, `${DIRECTORY}/${name}.yaml`);
  };
  await write('db', 'db:1');
  await write('web', 'web:1');
  disk.meet(trouble);
  const [sets, lastGood]: [ManifestSet[], Map<string, StoredManifest>] = [[], new Map(good)];
  const stop = new AbortController();
  const ended = watchManifests({
    files,
    path: DIRECTORY,
    nodeName: 'node-1',
    storedManifests: good,
    readManifests: readAtOnce,
    clock,
    listIntervalMs: LIST_MS,
    signal: stop.signal,
    onState: () => {},
    nextTurn: async () => {},
    onSet: (set) => sets.push(set),
    onManifest: ({ file, manifest: kept }) => void (kept === null ? lastGood.delete(file) : lastGood.set(file, kept)),
  });
  await clock.advance(1_000);
  await write('web', 'web:2');
  await write('new', 'new:1');
  await clock.advance(1_000);
  await sound.unlink(`${DIRECTORY}/new.yaml`);
  await clock.advance(LIST_MS);
  const calls = [...disk.calls];
  // The disk has no more faults from here on.
  await clock.advance(LIST_MS);
  stop.abort();
  await ended;
  return { sets, calls, lastGood };
}

const { sets: expected, calls, lastGood } = await play();
const failures = calls.flatMap((call, at) =>
  failuresOf(call).map(
    (fault) => [`${JSON.stringify(fault)} at ${at}: ${call.call} ${call.path}`, { at, fault }] as const,
  ),
);

test('changes of files on a simulated disk are detected', () => {
  expect(expected.map(shown)).toEqual([
    ['db db:1', 'web web:1'],
    ['db db:1', 'new new:1', 'web web:2'],
    ['db db:1', 'web web:2'],
  ]);
});

test.each(failures)('a file failure is reported until it is over, and terminates no pod: %s', async (_, trouble) => {
  const { sets } = await play(trouble);
  const { code } = trouble.fault;
  const last = sets.at(-1);
  expect(last && shown(last)).toEqual(['db db:1', 'web web:2']);
  expect(last?.problems).toEqual([]);
  const messages = sets.flatMap(({ problems }) => problems.map(({ message }) => message));
  expect(new Set(messages.map((message) => message.includes(code)))).toEqual(new Set([true]));
  // A pod keeps its version until it gets a newer one.
  const versions = sets.map((set) => shown(set).filter((pod) => pod.startsWith('web')));
  expect(versions).toEqual(versions.toSorted());
  expect(sets.every((set) => set.pods.length >= 2 || set.problems.length > 0)).toBe(true);
  // A set that is not partial contains all pods.
  expect(sets.every((set) => set.pods.length >= 2 || set.isPartial === true)).toBe(true);
  expect(last?.isPartial).toBeUndefined();
});

test('files that can never be manifests do not make a set partial', async () => {
  const { sound, files } = new TroubledDisk(() => 0);
  await sound.mkdir(`${DIRECTORY}/folder`, { recursive: true });
  await sound.symlink('loop.yaml', `${DIRECTORY}/loop.yaml`);
  await sound.symlink('/nowhere', `${DIRECTORY}/dangling.yaml`);
  await sound.writeFile(`${DIRECTORY}/large.yaml`, 'x'.repeat(2 ** 20 + 1));
  await sound.writeFile(`${DIRECTORY}/odd.yaml`, '{');
  await sound.writeFile(`${DIRECTORY}/web.yaml`, manifest('web', 'web:1'));
  const [sets, stop] = [[] as ManifestSet[], new AbortController()];
  const ended = watchManifests({
    files,
    path: DIRECTORY,
    nodeName: 'node-1',
    storedManifests: new Map(),
    readManifests: readAtOnce,
    clock: new SimulatedClock(),
    listIntervalMs: LIST_MS,
    signal: stop.signal,
    nextTurn: async () => {},
    onManifest: () => {},
    onSet: (set) => sets.push(set),
    onState: () => stop.abort(),
  });
  await ended;
  expect(sets.map(shown)).toEqual([['web web:1']]);
  expect(sets[0]?.problems).toHaveLength(5);
  expect(sets[0]?.isPartial).toBeUndefined();
});

test.each(failures)('a file failure terminates no pod that ran before a restart: %s', async (_, trouble) => {
  const { sets } = await play(trouble, lastGood);
  for (const set of sets)
    expect(shown(set)).toEqual(expect.arrayContaining(['db db:1', expect.stringContaining('web')]));
  expect(sets.at(-1)?.problems).toEqual([]);
});
