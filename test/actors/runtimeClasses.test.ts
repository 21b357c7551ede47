import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runtimeClassesIn, runtimeHandlerOf } from '../../actors/services/runtimeClasses.ts';

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
    retryable: true,
  });
  await writeFile(join(directory, 'late.yaml'), classNamed('late', 'runc'));
  expect(await handlerOf('late')).toBe('runc');
});
