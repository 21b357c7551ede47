import { existsSync, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pageLinkPath, readPageToken, writePageLink } from '../../../node/serve/pageLink.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-link-'));
});

afterEach(() => rm(root, { recursive: true }));

test('the link file is accessible only to its owner, and replaced by the next link', async () => {
  const file = pageLinkPath(root);
  expect(file).toBe(join(root, 'statelet', 'page-link'));
  await writePageLink(file, 'https://192.0.2.1/?token=one');
  await writePageLink(file, 'https://192.0.2.1/?token=two');
  expect(await readFile(file, 'utf8')).toBe('https://192.0.2.1/?token=two\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a complete link exists at any time during its replacement, so that a full disk does not lose its token', async () => {
  const file = pageLinkPath(root);
  const link = (count: number) => `https://192.0.2.1/?token=${count}`;
  await writePageLink(file, link(0));
  let isOver = false;
  const contents = new Set<string>();
  const read = () => {
    contents.add(existsSync(file) ? readFileSync(file, 'utf8') : 'no file');
    if (!isOver) setImmediate(read);
  };
  read();
  for (let count = 1; count <= 50; count += 1) await writePageLink(file, link(count));
  isOver = true;
  read();
  expect([...contents].filter((content) => !/^https:\S+\n$/.test(content))).toEqual([]);
  expect(contents).toContain(`${link(50)}\n`);
});

test('a symlink in place of the link file is replaced, not followed', async () => {
  const elsewhere = join(root, 'elsewhere');
  await writeFile(elsewhere, 'as it was', { mode: 0o600 });
  const file = pageLinkPath(root);
  await mkdir(dirname(file));
  await symlink(elsewhere, file);
  await writePageLink(file, 'https://192.0.2.1/?token=one');
  expect(await readFile(elsewhere, 'utf8')).toBe('as it was');
  expect((await lstat(file)).isFile()).toBe(true);
});

test('a directory in place of the link file or of its next version is renamed, and the link is written', async () => {
  const file = pageLinkPath(root);
  await mkdir(join(file, 'content'), { recursive: true });
  await mkdir(`${file}.new`);
  const renamed: string[] = [];
  await writePageLink(file, 'https://192.0.2.1/?token=one', (_, renamedTo) => renamed.push(renamedTo));
  expect(await readFile(file, 'utf8')).toBe('https://192.0.2.1/?token=one\n');
  expect(renamed).toEqual([`${file}.corrupt`, `${file}.new.corrupt`]);
  expect((await stat(join(`${file}.corrupt`, 'content'))).isDirectory()).toBe(true);
});

const TOKEN = 'abcdefghijklmnopqrstuvwxyz_-0123';

test('the token of the previous link is used again if only the owner could read it', async () => {
  const file = pageLinkPath(root);
  expect(await readPageToken(file)).toBeUndefined();
  await writePageLink(file, `http://127.0.0.1:10270/?token=${TOKEN}`);
  expect(await readPageToken(file)).toBe(TOKEN);
  await chmod(file, 0o640);
  expect(await readPageToken(file)).toBeUndefined();
});

test('a link without a complete token, behind a symlink or in a directory is not used', async () => {
  const file = pageLinkPath(root);
  for (const link of ['http://127.0.0.1:10270/', `http://127.0.0.1:10270/?token=${TOKEN.slice(1)}`, '\0', '']) {
    await writePageLink(file, link);
    expect([link, await readPageToken(file)]).toEqual([link, undefined]);
  }
  const elsewhere = join(root, 'elsewhere');
  await writePageLink(elsewhere, `http://127.0.0.1:10270/?token=${TOKEN}`);
  await rm(file);
  await symlink(elsewhere, file);
  expect(await readPageToken(file)).toBeUndefined();
  await rm(file);
  await mkdir(file);
  expect(await readPageToken(file)).toBeUndefined();
});
