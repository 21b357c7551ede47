import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../actors/clock.ts';
import { watchManifests } from '../../actors/feeds/fileSource.ts';
import { parseManifestFile } from '../../actors/feeds/manifestFile.ts';
import { parseManifestList } from '../../actors/feeds/manifestList.ts';
import type { ManifestSet } from '../../actors/feeds/manifestSet.ts';
import { readRuntimeClasses, runtimeClassesIn, runtimeHandlerOf } from '../../actors/services/runtimeClasses.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-classes-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const handlerOf = (runtimeClassName?: string) =>
  runtimeHandlerOf(
    { containers: [], ...(runtimeClassName === undefined ? {} : { runtimeClassName }) },
    runtimeClassesIn(directory),
  );

const classNamed = (name: string, handler: string) =>
  `apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: ${name}}\nhandler: ${handler}\n`;

test('a pod without a class has the runtime’s default', async () => {
  expect(await handlerOf()).toBe('');
  expect(await handlerOf('')).toBe('');
});

test('a class names its handler, wherever it stands among the files', async () => {
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

test('one that is not there is looked for again: it may come', async () => {
  await expect(handlerOf('late')).rejects.toMatchObject({
    reason: 'FailedCreatePodSandBox',
    message: 'Failed to create pod sandbox: RuntimeClass "late" not found',
  });
  await writeFile(join(directory, 'late.yaml'), classNamed('late', 'runc'));
  expect(await handlerOf('late')).toBe('runc');
});

test('C25: a static pod of a file or URL is admitted with what its class gives, or refused by it', async () => {
  const overhead = 'overhead: {podFixed: {cpu: 250m}}\n';
  await writeFile(join(directory, 'a.yaml'), `${classNamed('sandboxed', 'runsc')}${overhead}`);
  const classes = await readRuntimeClasses(directory);
  const manifest = (spec: string) =>
    `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {runtimeClassName: sandboxed, ${spec}containers: [{name: main, image: a}]}}`;
  const file = { file: '/pods/web.yaml', nodeName: 'node', seenAt: 0, classes };
  const url = { url: 'http://host/pods', nodeName: 'node', seenAt: 0, classes };
  expect(parseManifestFile(manifest(''), file)).toMatchObject({ pod: { spec: { overhead: { cpu: '250m' } } } });
  expect(parseManifestList(manifest(''), url)).toMatchObject({ pods: [{ spec: { overhead: { cpu: '250m' } } }] });
  const refused = { path: 'spec.overhead', message: expect.stringMatching(/^pod rejected: Pod's Overhead/) };
  for (const read of [
    parseManifestFile(manifest('overhead: {cpu: 1}, '), file),
    parseManifestList(manifest('overhead: {cpu: 1}, '), url),
  ]) {
    expect(read).toEqual({ problems: [refused] });
  }
});

test('C25: the source of static pods reads the classes with its files', async () => {
  const classes = join(directory, 'classes');
  const pods = join(directory, 'pods');
  await Promise.all([mkdir(classes), mkdir(pods)]);
  await writeFile(
    join(classes, 'a.yaml'),
    `${classNamed('plain', 'runc')}scheduling: {nodeSelector: {sandbox: 'yes'}}\n`,
  );
  const manifest =
    '{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {runtimeClassName: plain, containers: [{name: main, image: a}]}}';
  await writeFile(join(pods, 'web.yaml'), manifest);
  const end = new AbortController();
  const first = new Promise<ManifestSet>((onSet) => {
    const source = { path: pods, nodeName: 'node', lastGood: new Map(), listEveryMs: 20_000, clock: systemClock };
    const readClasses = () => readRuntimeClasses(classes);
    void watchManifests({ ...source, readClasses, signal: end.signal, onSet, onManifest: () => {} });
  });
  const {
    pods: [pod],
  } = await first;
  end.abort();
  expect(pod?.spec.nodeSelector).toEqual({ sandbox: 'yes' });
});

test('what is no regular file is told of and not read, as it might never end; a symlink to one is', async () => {
  execFileSync('mkfifo', [join(directory, 'a.yaml')]);
  await symlink('/dev/zero', join(directory, 'b.yaml'));
  await mkdir(join(directory, 'c.json'));
  await mkdir(join(directory, 'data'));
  await writeFile(join(directory, 'data', 'd'), classNamed('plain', 'runc'));
  await symlink('data/d', join(directory, 'd.yaml'));
  const skipped: string[] = [];
  const find = runtimeClassesIn(directory, (file) => skipped.push(file));
  expect(await find('plain')).toBe('runc');
  expect(skipped).toEqual(['a.yaml', 'b.yaml', 'c.json'].map((file) => join(directory, file)));
});
