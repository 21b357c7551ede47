import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Clock, systemClock } from '../../../actors/clock.ts';
import { watchManifests } from '../../../actors/feeds/fileSource.ts';
import type { KeptManifest, ManifestSet } from '../../../actors/feeds/manifestSet.ts';
import type { Pod } from '../../../pod/schema/pod.ts';

const manifest = (name: string, image = 'busybox:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;

let base: string;
let path: string;
let stop: AbortController;
let ended: Promise<void> | undefined;
let sets: ManifestSet[];
let kept: KeptManifest[];
let wake: () => void;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'manifests-'));
  path = join(base, 'pods');
  await mkdir(path);
  stop = new AbortController();
  sets = [];
  kept = [];
  wake = () => {};
});

afterEach(async () => {
  stop.abort();
  await ended;
  ended = undefined;
  await rm(base, { recursive: true });
});

function start({ at = path, lastGood = new Map<string, Pod>(), clock = systemClock as Clock } = {}): void {
  ended = watchManifests({
    path: at,
    nodeName: 'Node-1',
    lastGood,
    clock,
    signal: stop.signal,
    onSet: (set) => {
      sets.push(set);
      wake();
    },
    onManifest: (each) => kept.push(each),
  });
}

/** Waits for the set of this number, counted from 1. */
async function set(number: number): Promise<ManifestSet> {
  while (sets.length < number) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  const found = sets[number - 1];
  if (found === undefined) throw new Error('unreachable');
  return found;
}

const names = ({ pods }: ManifestSet) => pods.map((pod) => pod.metadata.name);
const quiet = () => new Promise((resolve) => setTimeout(resolve, 60));

describe('the set', () => {
  test('an absent path is an empty set, and what appears there later is found', async () => {
    await rm(path, { recursive: true });
    const clock = manualClock();
    start({ clock });
    expect(await set(1)).toEqual({ pods: [], problems: [], warnings: [] });
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await clock.untilWaiting();
    clock.advance(1000);
    expect(names(await set(2))).toEqual(['a-node-1']);
  });

  test('an absent path is looked for after 1, 2, 4, 8, 16 and then each 20 s', async () => {
    await rm(path, { recursive: true });
    const clock = manualClock();
    start({ clock });
    const waits: number[] = [];
    for (let round = 0; round < 7; round++) {
      const wait = await clock.untilWaiting();
      waits.push(wait);
      clock.advance(wait);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
  });

  test('all files there are in the first set, but for dot files and directories', async () => {
    await writeFile(
      join(path, 'b.json'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'b' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
    );
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await writeFile(join(path, '.c.yaml'), manifest('c'));
    await mkdir(join(path, 'd'));
    await writeFile(join(base, 'e'), manifest('e'));
    await symlink(join(base, 'e'), join(path, 'e.yaml'));
    start();
    expect(names(await set(1))).toEqual(['a-node-1', 'b-node-1', 'e-node-1']);
    expect(kept.map(({ file }) => file)).toEqual([join(path, 'a.yaml'), join(path, 'b.json'), join(path, 'e.yaml')]);
  });

  test('a written file is seen at once, a removed one leaves the set', async () => {
    start();
    await set(1);
    const before = performance.now();
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    expect(names(await set(2))).toEqual(['a-node-1']);
    expect(performance.now() - before).toBeLessThan(200);
    await rm(join(path, 'a.yaml'));
    expect(names(await set(3))).toEqual([]);
    expect(kept.at(-1)).toEqual({ file: join(path, 'a.yaml'), pod: null });
  });

  test('a file that is moved over another replaces its pod', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a', 'one'));
    start();
    const first = await set(1);
    await writeFile(join(base, 'new'), manifest('a', 'two'));
    await rename(join(base, 'new'), join(path, 'a.yaml'));
    const second = await set(2);
    expect(second.pods.map(({ spec }) => spec.containers[0]?.image)).toEqual(['two']);
    expect(second.pods[0]?.metadata.uid).not.toBe(first.pods[0]?.metadata.uid);
  });

  test('the same bytes again, or only the order of keys, change nothing', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const [pod] = (await set(1)).pods;
    await writeFile(file, manifest('a'));
    await quiet();
    expect(sets).toHaveLength(1);
    await writeFile(file, `${manifest('a')}# a comment\n`);
    expect((await set(2)).pods[0]).toBe(pod);
    expect(kept).toHaveLength(1);
  });

  test('two files with one pod name are both in the set', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await writeFile(join(path, 'b.yaml'), manifest('a'));
    start();
    const { pods } = await set(1);
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a-node-1', 'a-node-1']);
    expect(pods[0]?.metadata.uid).not.toBe(pods[1]?.metadata.uid);
  });

  test('one file as the path: its neighbours do not count, and it may go and come', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    await writeFile(join(path, 'b.yaml'), manifest('b'));
    start({ at: file });
    expect(names(await set(1))).toEqual(['a-node-1']);
    await rm(file);
    expect(names(await set(2))).toEqual([]);
    await writeFile(file, manifest('a2'));
    expect(names(await set(3))).toEqual(['a2-node-1']);
  });

  test('a directory that is removed empties the set', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    start();
    await set(1);
    await rm(path, { recursive: true });
    expect(names(await set(2))).toEqual([]);
  });

  test('a directory that takes the place of the watched one is read and followed', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await mkdir(join(base, 'next'));
    await writeFile(join(base, 'next', 'b.yaml'), manifest('b'));
    start();
    await set(1);
    await rename(path, join(base, 'old'));
    await rename(join(base, 'next'), path);
    while (names(sets.at(-1) ?? (await set(1)))[0] !== 'b-node-1') await set(sets.length + 1);
    const seen = sets.length;
    await writeFile(join(path, 'c.yaml'), manifest('c'));
    expect(names(await set(seen + 1))).toEqual(['b-node-1', 'c-node-1']);
  });

  test('what no event tells is found by the list after 20 s', async () => {
    await writeFile(join(base, 'real'), manifest('a', 'one'));
    await symlink(join(base, 'real'), join(path, 'a.yaml'));
    const clock = manualClock();
    start({ clock });
    await set(1);
    await writeFile(join(base, 'real'), manifest('a', 'two'));
    expect(await clock.untilWaiting()).toBe(20_000);
    clock.advance(20_000);
    expect((await set(2)).pods[0]?.spec.containers[0]?.image).toBe('two');
  });

  test('nothing is told after the signal', async () => {
    start();
    await set(1);
    stop.abort();
    await ended;
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await quiet();
    expect(sets).toHaveLength(1);
  });
});

describe('an invalid manifest', () => {
  test('keeps the last good version and is reported once, with its field', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const [pod] = (await set(1)).pods;
    await writeFile(file, manifest('a').replace("'busybox:1'", '7'));
    const second = await set(2);
    expect(second.pods).toEqual([pod]);
    expect(second.problems).toEqual([
      { file, path: 'spec.containers[0].image', message: 'expected string, got number' },
    ]);
    await writeFile(join(path, 'b.yaml'), manifest('b'));
    const third = await set(3);
    expect(names(third)).toEqual(['a-node-1', 'b-node-1']);
    expect(third.problems).toEqual([]);
    expect(kept.filter(({ pod: each }) => each === null)).toEqual([]);
  });

  test('keeps the last good version of before a restart, with its UID', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const pod = (await set(1)).pods[0];
    stop.abort();
    await ended;
    if (pod === undefined) throw new Error('no pod');
    await writeFile(file, 'apiVersion: v1\nkind: Po');
    stop = new AbortController();
    sets = [];
    start({ lastGood: new Map([[file, pod]]) });
    const again = await set(1);
    expect(again.pods).toEqual([pod]);
    expect(again.problems).toEqual([{ file, path: 'kind', message: 'expected Pod, got Po' }]);
  });

  test('whose file is gone after a restart: the last good version is dropped', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const pod = (await set(1)).pods[0];
    stop.abort();
    await ended;
    if (pod === undefined) throw new Error('no pod');
    await rm(file);
    stop = new AbortController();
    sets = [];
    start({ lastGood: new Map([[file, pod]]) });
    expect((await set(1)).pods).toEqual([]);
    expect(kept.at(-1)).toEqual({ file, pod: null });
  });

  test('an unchanged file after a restart gives the same pod, and nothing new to keep', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const pod = (await set(1)).pods[0];
    stop.abort();
    await ended;
    if (pod === undefined) throw new Error('no pod');
    stop = new AbortController();
    sets = [];
    kept = [];
    start({ lastGood: new Map([[file, pod]]) });
    expect((await set(1)).pods[0]).toBe(pod);
    expect(kept).toEqual([]);
  });

  test('an unknown field is a warning, and the pod is there', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a').replace('image:', 'imagePullPolcy: Never, image:'));
    start();
    const first = await set(1);
    expect(names(first)).toEqual(['a-node-1']);
    expect(first.warnings).toEqual([
      { file, path: 'spec.containers[0].imagePullPolcy', message: 'unknown field, did you mean "imagePullPolicy"?' },
    ]);
  });

  test('a file that is written piece by piece is read when it is whole', async () => {
    start();
    await set(1);
    const whole = manifest('a');
    const clock = performance.now();
    for (let at = 0; at < whole.length; at += 40) {
      await writeFile(join(path, 'a.yaml'), whole.slice(at, at + 40), { flag: 'a' });
    }
    expect(performance.now() - clock).toBeLessThan(1000);
    while (names(sets.at(-1) ?? (await set(1))).length === 0) await set(sets.length + 1);
    expect(names(sets.at(-1) ?? (await set(1)))).toEqual(['a-node-1']);
  });
});

/** A clock whose time stands until it is moved. */
function manualClock() {
  let now = 1_000_000;
  const timers = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    setTimeout: (fn: () => void, ms: number) => {
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (id: unknown) => {
      for (const timer of timers) if (timer === id) timers.delete(timer);
    },
    advance: (ms: number) => {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.fn();
      }
    },
    /** Waits for the one who waits, and says for how long. */
    untilWaiting: async () => {
      for (;;) {
        const [timer] = timers;
        if (timer !== undefined) return timer.at - now;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}
