import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import { CredentialFile } from '../../../node/credentials/credentialFile.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterAll(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const file = (path: string) => new CredentialFile({ path, errorPrefix: `client-key: ${path}` });

test('a credential file is read each time, without its byte order mark', async () => {
  await writeFile(at('plain'), '\ufefffirst\r\n');
  const plain = file(at('plain'));
  expect(await plain.read()).toBe('first\r\n');
  await writeFile(at('plain'), 'second');
  expect(await plain.read()).toBe('second');
});

test('a credential file in a volume is followed when the volume is replaced as a whole', async () => {
  for (const version of ['1', '2']) {
    await mkdir(at(`..${version}`));
    await writeFile(at(`..${version}/tls.key`), version);
  }
  await symlink('..1', at('..data'));
  await symlink('..data/tls.key', at('tls.key'));
  const key = file(at('tls.key'));
  expect(await key.read()).toBe('1');
  await symlink('..2', at('..new'));
  await rename(at('..new'), at('..data'));
  expect(await key.read()).toBe('2');
});

test('a path that is not a file, or a file that is too large, is rejected at once', async () => {
  execFileSync('mkfifo', [at('fifo')]);
  await writeFile(at('huge'), '');
  await truncate(at('huge'), 2 ** 40);
  await symlink('loop', at('loop'));
  const failures = [
    [at('fifo'), 'a FIFO, not a file'],
    ['/dev/zero', 'a device, not a file'],
    [folder, 'a directory, not a file'],
    [at('none'), 'no such file'],
    [join(at('plain'), 'below'), 'no such file'],
    [at('huge'), `the file has ${2 ** 40} bytes; the limit is 1048576`],
    [at('loop'), 'ELOOP: too many symbolic links encountered'],
  ] as const;
  const begun = performance.now();
  for (const [path, why] of failures)
    await expect(file(path).read()).rejects.toMatchObject({ message: `client-key: ${path}: ${why}` });
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('a file system that hangs times out, and is not read again until it responds', async () => {
  await writeFile(at('slow'), 'here');
  const answer = Promise.withResolvers<void>();
  let looks = 0;
  const stat: FileSystem['stat'] = async (path) => {
    looks += 1;
    await answer.promise;
    return hostFiles.stat(path);
  };
  const slow = new CredentialFile({
    path: at('slow'),
    errorPrefix: 'client-key: slow',
    files: { ...hostFiles, stat },
    timeoutMs: 20,
  });
  const late = new Error('client-key: slow: not read within 0.02s');
  await Promise.all([expect(slow.read()).rejects.toThrow(late), expect(slow.read()).rejects.toThrow(late)]);
  await expect(slow.read()).rejects.toThrow(late);
  expect(looks).toBe(1);
  answer.resolve();
  // The hanging read completes asynchronously.
  while ((await slow.read().catch(() => undefined)) === undefined) await pause(1);
  expect(await slow.read()).toBe('here');
});
