import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { resolveLinks, resolveLocalLinks } from '../../../host/files/withoutLinks.ts';

let root = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'statelet-links-')));
});
afterEach(() => rm(root, { recursive: true }));

test('resolves links even if the end of the path does not exist', async () => {
  await mkdir(join(root, 'real'));
  await symlink('real', join(root, 'link'));
  expect(resolveLinks(join(root, 'link'))).toBe(join(root, 'real'));
  expect(resolveLinks(join(root, 'link', 'not', 'there'))).toBe(join(root, 'real', 'not', 'there'));
});

describe('if remote file systems may hang', () => {
  test('links on local file systems are resolved', async () => {
    await mkdir(join(root, 'real'));
    await symlink('real', join(root, 'link'));
    await symlink(join(root, 'link', '..', 'link'), join(root, 'absolute'));
    await symlink('endless', join(root, 'endless'));
    for (const path of ['link', 'absolute', 'absolute/not/there', 'none/../real']) {
      expect(resolveLocalLinks(join(root, path))).toBe(resolveLinks(join(root, path)));
    }
    expect(resolveLocalLinks(join(root, 'endless', 'a'))).toContain('endless');
  });

  test.each(['nfs4', 'cifs', 'fuse.sshfs', 'autofs'])('nothing below a mount of %s is accessed', async (type) => {
    await mkdir(join(root, 'far'));
    await symlink('far', join(root, 'near'));
    await symlink('elsewhere', join(root, 'far', 'link'));
    const mounts = [{ path: join(root, 'far'), type }];
    expect(resolveLocalLinks(join(root, 'near', 'link'), mounts)).toBe(join(root, 'far', 'link'));
    expect(resolveLocalLinks(join(root, 'near', 'link'))).toBe(join(root, 'far', 'elsewhere'));
  });
});
