import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { nodeCredentials } from '../../../../actors/services/images/nodeCredentials.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-credentials-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const entry = (username: string) => ({ 'r.example': { username, password: 'hunter2' } });

async function put(file: string, content: unknown): Promise<void> {
  const path = join(directory, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Looks up the credentials for `r.example/app`, and collects the reports about files. */
function finder() {
  const reports: string[] = [];
  const find = nodeCredentials({
    rootDir: join(directory, 'root'),
    workingDir: join(directory, 'work'),
    homeDir: join(directory, 'home'),
    onUnusable: (file, why) => void reports.push(`${file.slice(directory.length)}: ${why}`),
  });
  const asked = { repository: 'r.example/app', pod: aPod(), signal: new AbortController().signal };
  return { reports, who: async () => (await find(asked)).map(({ username }) => username) };
}

test('C16: the first docker config counts: config.json in the root, working or home directory, then .dockercfg', async () => {
  const { who, reports } = finder();
  expect(await who()).toEqual([]);
  await put('home/.dockercfg', entry('e'));
  expect(await who()).toEqual(['e']);
  await put('root/.dockercfg', entry('d'));
  expect(await who()).toEqual(['d']);
  await put('home/.docker/config.json', { auths: entry('c') });
  expect(await who()).toEqual(['c']);
  await put('work/config.json', { auths: entry('b') });
  expect(await who()).toEqual(['b']);
  await put('root/config.json', { auths: entry('a') });
  expect(await who()).toEqual(['a']);
  expect(reports).toEqual([]);
});

test('an unusable docker config is reported once without its content, and the next file is used', async () => {
  const { who, reports } = finder();
  await put('root/config.json', '{"auths": {"r.example": "hunter2"}}');
  await mkdir(join(directory, 'work/config.json'), { recursive: true });
  await put('home/.docker/config.json', { auths: entry('me') });
  expect([await who(), await who()]).toEqual([['me'], ['me']]);
  expect(reports).toEqual([
    '/root/config.json: expected JSON with "auths"',
    '/work/config.json: cannot be read (EISDIR)',
  ]);
  await put('root/config.json', { auths: entry('root') });
  expect(await who()).toEqual(['root']);
  await put('root/config.json', 'hunter2');
  expect([await who(), await who()]).toEqual([['me'], ['me']]);
  expect(reports.slice(2)).toEqual(['/root/config.json: expected JSON with "auths"']);
});
