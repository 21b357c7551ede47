import { execFile } from 'node:child_process';
import { access, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { removeTree } from '../../../host/files/removeTree.ts';
import { setOwnership } from '../../../volume/ownership.ts';
import { inFolder, signal, withRoot } from '../../volume/onDisk.ts';

const run = promisify(execFile);
const shell = (script: string, ...args: string[]) => run('sh', ['-ec', script, 'sh', ...args]);
const isGone = (file: string) =>
  access(file).then(
    () => false,
    () => true,
  );

/**
 * Creates a file and a directory for each unusual name: one that is not UTF-8, one that looks like an option, one with
 * a line break, and others.
 */
const odd = async (tree: string) => {
  for (const name of [
    Buffer.from([0x66, 0xff, 0xfe]),
    Buffer.from('-rf'),
    Buffer.from('a\nb\x1b[2J'),
    Buffer.from([0xc0]),
  ]) {
    const inner = Buffer.concat([Buffer.from(`${tree}/`), name]);
    await mkdir(inner);
    await writeFile(Buffer.concat([inner, Buffer.from('/'), name]), '');
  }
};

/** Creates a path longer than the kernel accepts in one call, one `cd` at a time. */
const deep = (tree: string) =>
  shell(
    'cd "$1"; d=$(printf %0200d 0); i=0; while [ $i -lt 40 ]; do mkdir $d; cd -P $d; i=$((i+1)); done; touch end',
    tree,
  );

const many = (tree: string) => shell('cd "$1"; i=0; while [ $i -lt 3000 ]; do : > $i; i=$((i+1)); done', tree);

const writeProgram = (file: string, ...lines: readonly string[]) =>
  writeFile(file, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });

/** Runs a story with this directory of programs at the front of PATH. */
async function withPath(directory: string, story: () => Promise<void>): Promise<void> {
  const before = process.env.PATH;
  process.env.PATH = `${directory}:${before}`;
  try {
    await story();
  } finally {
    process.env.PATH = before;
  }
}

describe('a directory tree of a container', () => {
  test.each([
    ['with names that are not UTF-8', odd],
    ['with paths deeper than PATH_MAX', deep],
  ])('%s is deleted, but not the targets of its symlinks', async (_, make) => {
    await inFolder(async (folder) => {
      const [tree, precious] = [path.join(folder, 'tree'), path.join(folder, 'precious')];
      for (const each of [tree, precious]) await mkdir(each);
      await writeFile(path.join(precious, 'file'), 'kept');
      await symlink(precious, path.join(tree, 'link'));
      await make(tree);
      await removeTree(tree, signal);
      await removeTree(tree, signal);
      expect(await isGone(tree)).toBe(true);
      expect(await readFile(path.join(precious, 'file'), 'utf8')).toBe('kept');
    });
  });

  test('with thousands of files is deleted by a program in its own session', async () => {
    await inFolder(async (folder) => {
      const [tree, bin, said] = [path.join(folder, 'tree'), path.join(folder, 'bin'), path.join(folder, 'said')];
      for (const each of [tree, bin]) await mkdir(each);
      await many(tree);
      // The PID, the process group and the session ID are equal.
      await writeProgram(
        path.join(bin, 'rm'),
        `echo $$ $(cut -d" " -f5,6 /proc/$$/stat) > ${said}`,
        'exec /bin/rm "$@"',
      );
      await withPath(bin, () => removeTree(tree, signal));
      expect(await isGone(tree)).toBe(true);
      const [pid, ...groupAndSession] = (await readFile(said, 'utf8')).trim().split(' ');
      expect(groupAndSession).toEqual([pid, pid]);
    });
  });

  test('reports the requirement if the program is not that of coreutils', async () => {
    await inFolder(async (folder) => {
      const [tree, bin] = [path.join(folder, 'tree'), path.join(folder, 'bin')];
      for (const each of [tree, bin]) await mkdir(each);
      await many(tree);
      await writeProgram(path.join(bin, 'rm'), 'echo "rm: unrecognized option \'--one-file-system\'" >&2', 'exit 1');
      await expect(withPath(bin, () => removeTree(tree, signal))).rejects.toMatchObject({
        reason: 'FailedUnmount',
        message: expect.stringMatching(/'--one-file-system': GNU coreutils rm is required$/),
      });
    });
  });

  withRoot('with a file that may not be deleted fails with its name, and succeeds once it may be deleted', async () => {
    await inFolder(async (folder) => {
      const tree = path.join(folder, 'tree');
      await mkdir(path.join(tree, 'inner'), { recursive: true });
      const file = path.join(tree, 'inner', 'firm');
      await writeFile(file, '');
      await run('chattr', ['+i', file]).catch((cause) => {
        throw new Error(`${folder} knows no immutable files: set TMPDIR to a directory on ext4, xfs or btrfs`, {
          cause,
        });
      });
      await expect(removeTree(tree, signal)).rejects.toMatchObject({
        reason: 'FailedUnmount',
        message: expect.stringMatching(/tree has not been deleted yet: rm: .*inner\/firm.*Operation not permitted/),
      });
      await run('chattr', ['-i', file]);
      await removeTree(tree, signal);
      expect(await isGone(tree)).toBe(true);
    });
  });

  test('is preserved if only a link to it is deleted', async () => {
    await inFolder(async (folder) => {
      const [tree, link] = [path.join(folder, 'tree'), path.join(folder, 'link')];
      await mkdir(tree);
      await writeFile(path.join(tree, 'file'), 'kept');
      await symlink(tree, link);
      await removeTree(link, signal);
      expect(await isGone(link)).toBe(true);
      expect(await readFile(path.join(tree, 'file'), 'utf8')).toBe('kept');
    });
  });

  withRoot('is assigned to a group whatever the names in it', async () => {
    await inFolder(async (folder) => {
      const tree = path.join(folder, 'tree');
      await mkdir(tree);
      await odd(tree);
      await deep(tree);
      await setOwnership(tree, { fsGroup: 4711, readOnly: false, signal });
      const { stdout } = await run('find', [tree, '!', '-gid', '4711']);
      expect(stdout).toBe('');
      expect((await lstat(path.join(tree, '-rf', '-rf'))).mode & 0o7777).toBe(0o664);
      await removeTree(tree, signal);
    });
  });
});
