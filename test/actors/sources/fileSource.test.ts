import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { watchManifests } from '../../../actors/sources/fileSource.ts';
import type { ManifestSet, ManifestToStore, StoredManifest } from '../../../actors/sources/manifest/manifestSet.ts';
import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { readAtOnce } from '../../fakes/manifests.ts';

const manifest = (name: string, image = 'busybox:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;

let base: string;
let path: string;
let stop: AbortController;
let ended: Promise<void> | undefined;
let sets: ManifestSet[];
let persisted: ManifestToStore[];
let wake: () => void;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'manifests-'));
  path = join(base, 'pods');
  await mkdir(path);
  stop = new AbortController();
  sets = [];
  persisted = [];
  wake = () => {};
});

afterEach(async () => {
  stop.abort();
  await ended;
  ended = undefined;
  await rm(base, { recursive: true });
});

function start({
  at = path,
  lastGood: storedManifests = new Map<string, StoredManifest>(),
  clock = systemClock as Clock,
  listIntervalMs = 20_000,
} = {}): void {
  const own = sets;
  ended = watchManifests({
    nextTurn: yieldToEventLoop,
    files: hostFiles,
    path: at,
    nodeName: 'Node-1',
    storedManifests,
    readManifests: readAtOnce,
    listIntervalMs,
    clock,
    signal: stop.signal,
    onState: () => {},
    onSet: (set) => {
      own.push(set);
      wake();
    },
    onManifest: (each) => persisted.push(each),
  });
}

/** Waits for a set that fulfils the condition: the last one so far, or a later one. */
async function until(holds: (set: ManifestSet) => boolean): Promise<ManifestSet> {
  for (;;) {
    const last = sets.at(-1);
    if (last !== undefined && holds(last)) return last;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

const first = () => until(() => true);
const untilNames = (...expected: string[]) => until((set) => names(set).join() === expected.join());
const image = ({ pods }: ManifestSet) => pods[0]?.spec.containers[0]?.image;
const untilImage = (expected: string) => until((set) => image(set) === expected);

const names = ({ pods }: ManifestSet) => pods.map((pod) => pod.metadata.name);
/** Writes a file, watches it, and stops. Returns its last good manifest. */
async function lastGoodOf(file: string): Promise<StoredManifest> {
  await writeFile(file, manifest('a'));
  start();
  await first();
  stop.abort();
  await ended;
  const good = persisted.at(-1)?.manifest;
  if (!good) throw new Error('no pod');
  return good;
}

/** Starts another source, with the last good manifest of the previous one. */
function restart(file: string, manifest: StoredManifest): void {
  stop = new AbortController();
  sets = [];
  persisted = [];
  start({ lastGood: new Map([[file, manifest]]) });
}

/** Replaces a file atomically, as a careful editor does. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(join(base, 'whole'), text);
  await rename(join(base, 'whole'), file);
}

describe('C24: a file that is immediately', () => {
  const file = () => join(path, 'a.yaml');

  /**
   * Watches a file, changes it, and waits until a file that was written afterwards has been read. Returns whether each
   * set meanwhile had the pod of the first file. Changes share a set on a busy host, so the number of sets says
   * nothing.
   */
  async function presenceAfter(act: () => void | Promise<void>): Promise<boolean[]> {
    await writeFile(file(), manifest('a'));
    start();
    await untilNames('a-node-1');
    await act();
    await writeFile(join(path, 'z.yaml'), manifest('z'));
    await untilNames('a-node-1', 'z-node-1');
    return sets.slice(1).map((set) => names(set).includes('a-node-1'));
  }

  test('removed and recreated with the same content is reported as removed and added', async () => {
    const act = () => {
      rmSync(file());
      writeFileSync(file(), manifest('a'));
    };
    expect((await presenceAfter(act))[0]).toBe(false);
  });

  test('moved away and back is reported as removed and added', async () => {
    const act = () => {
      renameSync(file(), join(base, 'away'));
      renameSync(join(base, 'away'), file());
    };
    expect((await presenceAfter(act))[0]).toBe(false);
  });

  test('removed and replaced by a rename with the same content is reported as removed and added', async () => {
    writeFileSync(join(base, 'prepared'), manifest('a'));
    // The kernel updates the timestamps of files in steps of a few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const act = async () => {
      rmSync(file());
      // Two programs that run one after the other are at least this far apart.
      await new Promise((resolve) => setTimeout(resolve, 2));
      renameSync(join(base, 'prepared'), file());
    };
    expect((await presenceAfter(act))[0]).toBe(false);
  });

  test('replaced by renames with the same content stays, however often', async () => {
    for (const name of ['one', 'two', 'three']) writeFileSync(join(base, name), manifest('a'));
    // The kernel updates the timestamps of files in steps of a few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const act = () => {
      for (const name of ['one', 'two', 'three']) renameSync(join(base, name), file());
    };
    expect(await presenceAfter(act)).not.toContain(false);
  });

  test('rewritten in place with the same content stays', async () => {
    expect(await presenceAfter(() => writeFileSync(file(), manifest('a')))).not.toContain(false);
  });
});

describe('the manifest set', () => {
  test('is empty for a missing path, and includes files that appear there later', async () => {
    await rm(path, { recursive: true });
    const clock = manualClock();
    start({ clock });
    const warnings = [{ file: path, path: '', message: expect.stringMatching(/^no such file or directory/) }];
    expect(await first()).toEqual({ pods: [], problems: [], warnings });
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await clock.untilWaiting();
    clock.advance(1000);
    await untilNames('a-node-1');
  });

  test('is retried for a missing path after 1, 2, 4, 8, 16 and then every 20 s', async () => {
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

  test('has a problem for a file that stays empty, but not for one that is empty until it is written', async () => {
    for (const name of ['a.yaml', 'b.yaml']) await writeFile(join(path, name), '');
    const clock = manualClock();
    start({ clock });
    expect((await first()).problems).toEqual([]);
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    const isDone = ({ pods, problems }: ManifestSet) => pods.length === 1 && problems.length > 0;
    while (!sets.some(isDone)) clock.advance(await clock.untilWaiting());
    const reported = new Set(
      sets.flatMap(({ problems }) => problems.map(({ file, message }) => `${file}: ${message}`)),
    );
    expect([...reported]).toEqual([`${path}/b.yaml: the file is empty`]);
  });

  test('contains all existing files from the start, except dot files and directories', async () => {
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
    expect(names(await first())).toEqual(['a-node-1', 'b-node-1', 'e-node-1']);
    expect(persisted.map(({ file }) => file).sort()).toEqual(
      ['a.yaml', 'b.json', 'e.yaml'].map((name) => join(path, name)),
    );
  });

  test('is updated by the event for a written or removed file, before any list', async () => {
    start({ listIntervalMs: 3_600_000 });
    await first();
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await untilNames('a-node-1');
    await rm(join(path, 'a.yaml'));
    await untilNames();
    expect(persisted.at(-1)).toEqual({ file: join(path, 'a.yaml'), manifest: null });
  });

  test('is published with the first of many simultaneous files before the last are read', async () => {
    start({ listIntervalMs: 3_600_000 });
    await first();
    const all = Array.from({ length: 30 }, (_, index) => `p${index}`);
    for (const name of all) await writeFile(join(base, name), manifest(name));
    await Promise.all(all.map((name) => rename(join(base, name), join(path, name))));
    await until(({ pods }) => pods.length === all.length);
    expect(sets.filter(({ pods }) => pods.length > 0).length).toBeGreaterThan(1);
  });

  test('replaces the pod of a file that another file is moved over', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a', 'one'));
    start();
    const before = await first();
    await writeFile(join(base, 'new'), manifest('a', 'two'));
    await rename(join(base, 'new'), join(path, 'a.yaml'));
    const second = await untilImage('two');
    expect(second.pods).toHaveLength(1);
    expect(second.pods[0]?.metadata.uid).not.toBe(before.pods[0]?.metadata.uid);
  });

  test('does not change if a file has the same bytes again or only a different key order', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const [pod] = (await first()).pods;
    await replace(file, manifest('a'));
    await replace(join(path, 'b.yaml'), manifest('b'));
    expect((await untilNames('a-node-1', 'b-node-1')).pods[0]).toBe(pod);
    expect(sets).toHaveLength(2);
    await replace(file, `${manifest('a')}# a comment\n`);
    const again = await until(() => sets.length > 2);
    expect(again.pods[0]).toBe(pod);
    expect(persisted.map(({ manifest: good }) => good?.pods[0])).toEqual([pod, again.pods[1], pod]);
  });

  test('contains both of two files with the same pod name', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await writeFile(join(path, 'b.yaml'), manifest('a'));
    start();
    const { pods } = await first();
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a-node-1', 'a-node-1']);
    expect(pods[0]?.metadata.uid).not.toBe(pods[1]?.metadata.uid);
  });

  test('of a single-file path ignores neighboring files, and follows the removal and recreation of the file', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    await writeFile(join(path, 'b.yaml'), manifest('b'));
    start({ at: file });
    expect(names(await first())).toEqual(['a-node-1']);
    await rm(file);
    await untilNames();
    await writeFile(file, manifest('a2'));
    await untilNames('a2-node-1');
  });

  test('becomes empty when the directory is removed', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    start();
    await first();
    await rm(path, { recursive: true });
    await untilNames();
  });

  test('follows a directory that replaces the watched one', async () => {
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await mkdir(join(base, 'next'));
    await writeFile(join(base, 'next', 'b.yaml'), manifest('b'));
    start();
    await first();
    await rename(path, join(base, 'old'));
    await rename(join(base, 'next'), path);
    await untilNames('b-node-1');
    await writeFile(join(path, 'c.yaml'), manifest('c'));
    await untilNames('b-node-1', 'c-node-1');
  });

  test('includes changes without an event at the next periodic list', async () => {
    await writeFile(join(base, 'real'), manifest('a', 'one'));
    await symlink(join(base, 'real'), join(path, 'a.yaml'));
    const clock = manualClock();
    start({ clock, listIntervalMs: 7000 });
    await first();
    await writeFile(join(base, 'real'), manifest('a', 'two'));
    expect(await clock.untilWaiting()).toBe(7000);
    clock.advance(7000);
    await untilImage('two');
  });

  test('is not published after the signal is aborted', async () => {
    start();
    await first();
    stop.abort();
    await ended;
    const reported = sets;
    sets = [];
    stop = new AbortController();
    start();
    await first();
    await writeFile(join(path, 'a.yaml'), manifest('a'));
    await untilNames('a-node-1');
    expect(reported).toHaveLength(1);
  });
});

describe('a manifest file', () => {
  test('that is invalid retains the last good version, and is reported with its field as long as it is invalid', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a'));
    start();
    const [pod] = (await first()).pods;
    await replace(file, manifest('a').replace("'busybox:1'", '7'));
    const second = await until(() => sets.length > 1);
    expect(second.pods).toEqual([pod]);
    const reported = {
      file,
      path: 'spec.containers[0].image',
      message: 'expected string, got number (7 at line 4; write "7" if it is text)',
    };
    expect(second.problems).toEqual([{ ...reported, pod: 'default/a-node-1', until: 'the file changes' }]);
    await replace(join(path, 'b.yaml'), manifest('b'));
    const third = await untilNames('a-node-1', 'b-node-1');
    expect(third.problems).toEqual(second.problems);
    await replace(file, manifest('a'));
    const mended = await until(({ problems }) => problems.length === 0);
    expect(mended.pods.map(({ metadata }) => metadata.name)).toEqual(['a-node-1', 'b-node-1']);
    expect(persisted.filter(({ manifest: each }) => each === null)).toEqual([]);
  });

  test('that is invalid after a restart retains the last good version from before, with its UID', async () => {
    const file = join(path, 'a.yaml');
    const good = await lastGoodOf(file);
    await writeFile(file, 'apiVersion: v1\nkind: Po');
    restart(file, good);
    const again = await first();
    expect(again.pods).toEqual(good.pods);
    expect(again.problems).toMatchObject([{ file, path: 'kind', message: 'expected Pod, got Po' }]);
  });

  test('that was removed during a restart loses its last good version', async () => {
    const file = join(path, 'a.yaml');
    const good = await lastGoodOf(file);
    await rm(file);
    restart(file, good);
    expect((await first()).pods).toEqual([]);
    expect(persisted.at(-1)).toEqual({ file, manifest: null });
  });

  test('that is unchanged after a restart yields the same pod, and nothing is persisted again', async () => {
    const file = join(path, 'a.yaml');
    const good = await lastGoodOf(file);
    restart(file, good);
    expect((await first()).pods[0]).toBe(good.pods[0]);
    expect(persisted).toEqual([]);
  });

  test('that is invalid and temporarily unreadable is still reported as invalid afterwards', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, 'kind: Po');
    start();
    const invalid = (await first()).problems;
    expect(invalid).toHaveLength(1);
    await symlink(file, join(base, 'loop'));
    await rename(join(base, 'loop'), file);
    await until(({ problems }) => problems.some(({ message }) => message.includes('ELOOP')));
    await replace(file, 'kind: Po');
    expect(
      (await until(({ problems }) => problems.every(({ message }) => !message.includes('ELOOP')))).problems,
    ).toEqual(invalid);
  });

  test('with an unknown field yields its pod with a warning', async () => {
    const file = join(path, 'a.yaml');
    await writeFile(file, manifest('a').replace('image:', 'imagePullPolcy: Never, image:'));
    start();
    const found = await first();
    expect(names(found)).toEqual(['a-node-1']);
    expect(found.warnings).toMatchObject([
      { file, path: 'spec.containers[0].imagePullPolcy', message: 'unknown field, did you mean "imagePullPolicy"?' },
    ]);
  });

  test('that is written piece by piece is read when it is complete', async () => {
    start({ listIntervalMs: 3_600_000 });
    await first();
    const whole = manifest('a');
    for (let at = 0; at < whole.length; at += 40) {
      await writeFile(join(path, 'a.yaml'), whole.slice(at, at + 40), { flag: 'a' });
    }
    await untilNames('a-node-1');
  });
});

/** A clock whose time stands still until the test advances it. */
function manualClock() {
  let now = 1_000_000;
  const timers = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    monotonic: () => now,
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
    /** Waits until a timer is set, and returns its duration in milliseconds. */
    untilWaiting: async () => {
      for (;;) {
        const [timer] = timers;
        if (timer !== undefined) return timer.at - now;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}
