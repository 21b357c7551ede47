import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createHandlerFinder,
  readRuntimeClasses,
  resolveRuntimeHandler,
} from '../../../../actors/services/sandboxes/runtimeClasses.ts';
import { watchManifests } from '../../../../actors/sources/fileSource.ts';
import type { ManifestSet, ManifestToStore, StoredManifest } from '../../../../actors/sources/manifest/manifestSet.ts';
import { yieldToEventLoop } from '../../../../base/async/yieldToEventLoop.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { type FileSystem, hostFiles } from '../../../../host/files/fileSystem.ts';
import { fileError } from '../../../../host/simulated/fileError.ts';
import type { RuntimeClasses } from '../../../../kubernetes/api/runtimeClass.ts';
import { readAnswer, readAtOnce, readFileText } from '../../../fakes/manifests.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-classes-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const handlerOf = (runtimeClassName?: string) =>
  resolveRuntimeHandler(
    { containers: [], ...(runtimeClassName === undefined ? {} : { runtimeClassName }) },
    createHandlerFinder(() => readRuntimeClasses(directory)),
  );

const classNamed = (name: string, handler: string) =>
  `apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: ${name}}\nhandler: ${handler}\n`;

test('a pod without a RuntimeClass uses the default handler of the runtime', async () => {
  expect(await handlerOf()).toBe('');
  expect(await handlerOf('')).toBe('');
});

test('a RuntimeClass determines the handler, in whichever file it is defined', async () => {
  await writeFile(join(directory, 'a.yaml'), `kind: Other\n---\n${classNamed('sandboxed', 'runsc')}`);
  await writeFile(join(directory, 'b.yml'), '{ broken');
  await writeFile(
    join(directory, 'c.json'),
    JSON.stringify({ kind: 'RuntimeClass', metadata: { name: 'plain' }, handler: 'runc' }),
  );
  await writeFile(join(directory, 'notes.txt'), classNamed('hidden', 'runc'));
  expect([await handlerOf('sandboxed'), await handlerOf('plain')]).toEqual(['runsc', 'runc']);
  await expect(handlerOf('hidden')).rejects.toThrow('not found');
});

test('a missing RuntimeClass is looked up again, because it may be created', async () => {
  await expect(handlerOf('late')).rejects.toMatchObject({
    reason: 'FailedCreatePodSandBox',
    message: 'Failed to create pod sandbox: runtimeclass.node.k8s.io "late" not found',
  });
  await writeFile(join(directory, 'late.yaml'), classNamed('late', 'runc'));
  expect(await handlerOf('late')).toBe('runc');
});

test('C25: a static pod from a file or URL gets the overhead of its RuntimeClass, or is rejected if it contradicts the class', async () => {
  const overhead = 'overhead: {podFixed: {cpu: 250m}}\n';
  await writeFile(join(directory, 'a.yaml'), `${classNamed('sandboxed', 'runsc')}${overhead}`);
  const classes = await readRuntimeClasses(directory);
  const manifest = (spec: string) =>
    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {runtimeClassName: sandboxed, ${spec}containers: [{name: main, image: a}]}}`;
  expect(readFileText(manifest(''), { classes })).toMatchObject({ pod: { spec: { overhead: { cpu: '250m' } } } });
  expect(readAnswer(manifest(''), { classes })).toMatchObject([
    { manifest: { pod: { spec: { overhead: { cpu: '250m' } } } } },
  ]);
  const refused = { path: 'spec.overhead', message: expect.stringMatching(/^pod rejected: Pod's Overhead/) };
  expect(readFileText(manifest('overhead: {cpu: 1}, '), { classes })).toMatchObject({ problems: [refused] });
  expect(readAnswer(manifest('overhead: {cpu: 1}, '), { classes })).toMatchObject([
    { manifest: { problems: [refused] } },
  ]);
});

describe('C25: the source of static pods', () => {
  const selecting = (value: string) => `${classNamed('plain', 'runc')}scheduling: {nodeSelector: {disk: ${value}}}\n`;
  const manifest = (spec = '') =>
    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {runtimeClassName: plain, ${spec}containers: [{name: main, image: a}]}}`;
  const selectorOf = ({ pods: [pod] }: ManifestSet) => pod?.spec.nodeSelector;
  const messagesOf = ({ problems }: ManifestSet) => problems.map(({ message }) => message);

  /** Starts a source for `classes` and `pods` in the directory, which lists them every few milliseconds. */
  function source(storedManifests: ReadonlyMap<string, StoredManifest> = new Map(), listIntervalMs = 5) {
    const sets: ManifestSet[] = [];
    const persisted: ManifestToStore[] = [];
    const reads: RuntimeClasses[] = [];
    const end = new AbortController();
    const ended = watchManifests({
      nextTurn: yieldToEventLoop,
      files: hostFiles,
      path: join(directory, 'pods'),
      nodeName: 'node',
      storedManifests,
      listIntervalMs,
      clock: systemClock,
      readManifests: readAtOnce,
      readClasses: async () => {
        const classes = await readRuntimeClasses(join(directory, 'classes'));
        reads.push(classes);
        return classes;
      },
      signal: end.signal,
      onState: () => {},
      onSet: (set) => sets.push(set),
      onManifest: (each) => persisted.push(each),
    });
    const until = async (holds: (set: ManifestSet) => boolean): Promise<ManifestSet> => {
      for (;;) {
        const last = sets.at(-1);
        if (last !== undefined && holds(last)) return last;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const listedAgain = async (times = 2) => {
      const before = reads.length;
      while (reads.length < before + times) await new Promise((resolve) => setImmediate(resolve));
    };
    const stop = async () => {
      end.abort();
      await ended;
    };
    return { until, listedAgain, stop, sets, persisted };
  }
  const write = (kind: 'classes' | 'pods', name: string, text: string) => writeFile(join(directory, kind, name), text);
  beforeEach(() => Promise.all(['classes', 'pods'].map((each) => mkdir(join(directory, each)))));

  test('reads the RuntimeClasses together with its files', async () => {
    await write('classes', 'a.yaml', selecting('ssd'));
    await write('pods', 'web.yaml', manifest());
    const { until, stop } = source();
    expect(selectorOf(await until(() => true))).toEqual({ disk: 'ssd' });
    await stop();
  });

  test('still applies an edited manifest after a typo in a RuntimeClass', async () => {
    await write('classes', 'a.yaml', selecting('ssd'));
    await write('pods', 'web.yaml', manifest());
    const { until, stop } = source();
    await until(({ pods }) => pods.length === 1);
    await write('classes', 'a.yaml', selecting('*nope'));
    await write(
      'pods',
      'web.yaml',
      manifest().replace('image: a', 'image: b').replace('runtimeClassName: plain, ', ''),
    );
    await until(({ pods: [pod] }) => pod?.spec.containers[0]?.image === 'b');
    await stop();
  });

  test('continues with the last RuntimeClasses when they become unreadable, and reports that', async () => {
    await write('pods', 'web.yaml', manifest());
    const classes = new Map([
      ['plain', { kind: 'RuntimeClass', metadata: { name: 'plain' }, handler: 'runc' } as const],
    ]);
    let reads = 0;
    const end = new AbortController();
    const last = await new Promise<ManifestSet>((resolve) => {
      void watchManifests({
        nextTurn: yieldToEventLoop,
        files: hostFiles,
        path: join(directory, 'pods'),
        nodeName: 'node',
        storedManifests: new Map(),
        listIntervalMs: 5,
        clock: systemClock,
        readManifests: readAtOnce,
        readClasses: async () => {
          reads++;
          if (reads > 1) throw new Error('no more');
          return classes;
        },
        signal: end.signal,
        onState: () => {},
        onSet: (set) => {
          if (reads === 1) writeFileSync(join(directory, 'pods', 'web.yaml'), manifest('hostname: b, '));
          if (set.pods[0]?.spec.hostname === 'b') resolve(set);
        },
        onManifest: () => {},
      });
    });
    end.abort();
    expect(messagesOf(last)).toEqual(['no more']);
  });

  test('delays a pod until its RuntimeClass exists', async () => {
    await write('pods', 'web.yaml', manifest());
    const { until, stop } = source();
    const held = await until(({ problems }) => problems.length > 0);
    expect(held.pods).toEqual([]);
    expect(messagesOf(held)).toEqual(['pod rejected: RuntimeClass "plain" not found']);
    await write('classes', 'a.yaml', selecting('ssd'));
    const come = await until(({ pods }) => pods.length === 1);
    expect(selectorOf(come)).toEqual({ disk: 'ssd' });
    expect(come.problems).toEqual([]);
    await stop();
  });

  test('admits a pod that contradicts its RuntimeClass once the conflict is fixed, and reports the conflict only once', async () => {
    await write('classes', 'a.yaml', selecting('ssd'));
    await write('pods', 'web.yaml', manifest('nodeSelector: {disk: hdd}, '));
    const { until, listedAgain, stop, sets } = source();
    await until(({ problems }) => problems.length === 1);
    await listedAgain();
    expect(sets).toHaveLength(1);
    await write('classes', 'a.yaml', selecting('hdd'));
    expect((await until(({ pods }) => pods.length === 1)).problems).toEqual([]);
    await stop();
  });

  test('leaves an admitted pod unchanged when its RuntimeClass changes or disappears, even across a restart', async () => {
    await write('classes', 'a.yaml', selecting('ssd'));
    await write('pods', 'web.yaml', manifest());
    const before = source();
    const { pods } = await before.until((set) => set.pods.length === 1);
    await write('classes', 'a.yaml', selecting('hdd'));
    await before.listedAgain();
    // The same pod with a different text.
    await write('pods', 'web.yaml', `${manifest()} # a comment`);
    await before.until(() => before.sets.length > 1);
    await before.stop();
    expect(before.sets.map((set) => set.pods[0])).toEqual(before.sets.map(() => pods[0]));
    expect(before.persisted.map(({ manifest: good }) => good?.pods[0])).toEqual([pods[0], pods[0]]);
    await write('classes', 'a.yaml', classNamed('another', 'runc'));
    const lastGood = new Map(
      before.persisted.flatMap(({ file, manifest: good }) => (good ? [[file, good] as const] : [])),
    );
    const after = source(lastGood);
    expect(await after.until(() => true)).toMatchObject({ pods, problems: [] });
    await after.stop();
    expect(after.persisted).toEqual([]);
  });
});

test('an invalid RuntimeClass is reported, and valid ones beside it are used', async () => {
  const bad = 'kind: RuntimeClass\nmetadata: {name: bad}\n';
  await writeFile(join(directory, 'a.yaml'), `${bad}---\n${classNamed('plain', 'runc')}---\nkind: Other\n`);
  await writeFile(join(directory, 'b.yaml'), `${bad}handler: *nope\n---\n${classNamed('other', 'runc')}`);
  await writeFile(join(directory, 'c.yaml'), `${bad}handler: {`);
  const skipped: string[] = [];
  const classes = await readRuntimeClasses(directory, (file, why) => skipped.push(`${basename(file)}: ${why}`));
  expect([...classes.keys()]).toEqual(['plain', 'other']);
  expect(skipped).toEqual([
    'a.yaml: no RuntimeClass: handler: Required value',
    expect.stringMatching(/^b.yaml: unknown anchor;/),
    expect.stringMatching(/^c.yaml: [^\n]+$/),
  ]);
});

test('a file that is not regular is reported and not read, because reading it may never end, but a symlink to a regular file is read', async () => {
  execFileSync('mkfifo', [join(directory, 'a.yaml')]);
  await symlink('/dev/zero', join(directory, 'b.yaml'));
  await mkdir(join(directory, 'c.json'));
  await mkdir(join(directory, 'data'));
  await writeFile(join(directory, 'data', 'd'), classNamed('plain', 'runc'));
  await symlink('data/d', join(directory, 'd.yaml'));
  const skipped: string[] = [];
  const find = createHandlerFinder(() => readRuntimeClasses(directory, (file) => skipped.push(file)));
  expect(await find('plain')).toBe('runc');
  expect(skipped).toEqual(['a.yaml', 'b.yaml', 'c.json'].map((file) => join(directory, file)));
});

test.each(['readdir', 'stat'] as const)(
  'a RuntimeClass that cannot be read because %s fails is not reported as missing',
  async (call) => {
    await writeFile(join(directory, 'a.yaml'), classNamed('sandboxed', 'runsc'));
    const refuse = async (path: string): Promise<never> => {
      throw fileError('EMFILE', 'open', path);
    };
    const disk = { ...hostFiles, [call]: refuse };
    await expect(readRuntimeClasses(directory, () => {}, disk)).rejects.toThrow('EMFILE');
    const find = createHandlerFinder(() => readRuntimeClasses(directory, () => {}, disk));
    await expect(resolveRuntimeHandler({ containers: [], runtimeClassName: 'sandboxed' }, find)).rejects.toMatchObject({
      reason: 'FailedCreatePodSandBox',
      message: expect.stringMatching(/^Failed to create pod sandbox: RuntimeClass "sandboxed" cannot be read: EMFILE/),
    });
    expect((await readRuntimeClasses(directory)).has('sandboxed')).toBe(true);
  },
);

test('an unreadable RuntimeClass file is skipped with its error, and the classes of other files still apply', async () => {
  await writeFile(join(directory, 'a.yaml'), classNamed('sandboxed', 'runsc'));
  await writeFile(join(directory, 'b.yaml'), classNamed('plain', 'runc'));
  const skipped: string[] = [];
  const skip = (file: string, why: string) => skipped.push(`${basename(file)}: ${why}`);
  const open: FileSystem['open'] = async (path, ...rest) => {
    if (path.endsWith('a.yaml')) throw fileError('EIO', 'read', path);
    return hostFiles.open(path, ...rest);
  };
  expect([...(await readRuntimeClasses(directory, skip, { ...hostFiles, open })).keys()]).toEqual(['plain']);
  expect(skipped).toEqual([expect.stringMatching(/^a\.yaml: EIO: i\/o error/)]);
  const readdir: FileSystem['readdir'] = async (path) => {
    throw fileError('EIO', 'scandir', path);
  };
  expect(await readRuntimeClasses(directory, skip, { ...hostFiles, readdir })).toEqual(new Map());
  expect(skipped.at(-1)).toMatch(/^statelet-classes-\w+: EIO: i\/o error/);
});
