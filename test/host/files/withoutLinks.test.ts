import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { withoutLinks } from '../../../host/files/withoutLinks.ts';

let root = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'statelet-links-')));
});
afterEach(() => rm(root, { recursive: true }));

test('links on the way are followed, also where the end of the path does not exist', async () => {
  await mkdir(join(root, 'real'));
  await symlink('real', join(root, 'link'));
  expect(withoutLinks(join(root, 'link'))).toBe(join(root, 'real'));
  expect(withoutLinks(join(root, 'link', 'not', 'there'))).toBe(join(root, 'real', 'not', 'there'));
});
