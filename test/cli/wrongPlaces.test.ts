/** A file in place of each directory that an agent creates when it starts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startPrivateContainerd } from '../../cli/commands/run/privateRuntime.ts';
import { assertDirectoryOrMissing } from '../../host/files/assertDirectoryOrMissing.ts';

jest.setTimeout(60_000);

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-places-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Creates a file in place of a directory, and returns its path. */
function fileAt(name: string): string {
  const file = join(directory, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'theirs');
  return file;
}

/** Starts the daemon, which exits immediately. Returns its error output and exit code. */
function started() {
  const places = ['--root-dir', join(directory, 'root'), '--pod-log-dir', join(directory, 'logs/pods')];
  const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const { status, stderr } = spawnSync(process.execPath, ['cli/main.ts', 'run', ...places, ...nowhere], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, sentences: stderr.split('\n').filter((line) => line !== '' && !/^[IWE]\d{4} /.test(line)) };
}

describe('a path that is in the way is named in one sentence, with exit code 1', () => {
  test.each([
    'root',
    'root/agents',
    'root/pods',
    'root/statelet',
    'root/statelet/statuses',
    'logs',
    'logs/pods',
    'logs/containers',
  ])('%s', (name) => {
    const file = fileAt(name);
    expect(started()).toEqual({
      status: 1,
      sentences: [`statelet: ${file}: expected a directory, found a file`],
    });
  });

  test('the directory of the private containerd is named as well', async () => {
    const file = fileAt('containerd');
    await expect(
      startPrivateContainerd(file, { onProgress: () => {}, stopSignal: new AbortController().signal }),
    ).rejects.toThrow(`${file}: expected a directory, found a file`);
  });
});

test('a dangling symlink is in the way, but not a directory, a symlink to one, or a path that can be created', async () => {
  const at = (name: string) => join(directory, name);
  symlinkSync(at('nothing'), at('dangling'));
  await expect(assertDirectoryOrMissing(at('dangling'))).rejects.toThrow('found a dangling symbolic link');
  symlinkSync(directory, at('link'));
  for (const good of [directory, at('link'), at('link/new/deep')]) await assertDirectoryOrMissing(good);
});
