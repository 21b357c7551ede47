import { readdir, readlink, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLogSymlink, removeLogSymlinks, writeLogSymlink } from '../../../host/pods/logLinks.ts';
import { inFolder } from '../../volume/onDisk.ts';

const old = { uid: 'u1', namespace: 'default', name: 'web' };
const successor = { ...old, uid: 'u2' };
const neighbour = { ...old, uid: 'u3', name: 'web-2' };

function logOf(layout: Layout, pod: typeof old, run = 0): string {
  return path.join(layout.containerLogDir(pod, 'main'), `${run}.log`);
}

test('C23: the link refers to the log file and is updated when it is written again', async () => {
  await inFolder(async (_folder, layout) => {
    const link = { pod: old, container: 'main', id: 'f00' };
    await writeLogSymlink(layout, link, '/elsewhere');
    await writeLogSymlink(layout, link, logOf(layout, old));
    expect(await readdir(layout.logLinksDir)).toEqual(['web_default_main-f00.log']);
    expect(await readlink(layout.logLink(old, 'main', 'f00'))).toBe(logOf(layout, old));
    await removeLogSymlink(layout, link);
    await removeLogSymlink(layout, link);
    expect(await readdir(layout.logLinksDir)).toEqual([]);
  });
});

test('C23: removing the links of a pod preserves those of other pods', async () => {
  await inFolder(async (_folder, layout) => {
    await removeLogSymlinks(layout, old);
    await writeLogSymlink(layout, { pod: old, container: 'main', id: 'a' }, logOf(layout, old));
    await writeLogSymlink(layout, { pod: old, container: 'main', id: 'b' }, logOf(layout, old, 1));
    await writeLogSymlink(layout, { pod: successor, container: 'main', id: 'c' }, logOf(layout, successor));
    await writeLogSymlink(layout, { pod: neighbour, container: 'main', id: 'd' }, logOf(layout, neighbour));
    await symlink('/elsewhere', path.join(layout.logLinksDir, 'web_default_main-e.log'));
    await removeLogSymlinks(layout, old);
    await removeLogSymlinks(layout, old);
    expect((await readdir(layout.logLinksDir)).sort()).toEqual([
      'web-2_default_main-d.log',
      'web_default_main-c.log',
      'web_default_main-e.log',
    ]);
  });
});
