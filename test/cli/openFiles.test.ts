/** A start that runs out of file descriptors at any point. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startStatelet } from '../e2e/support/statelet.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'statelet-files-'));
  mkdirSync(join(directory, 'pods'));
  writeFileSync(join(directory, 'pods/a.yaml'), 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Starts the daemon with this limit of open files. Returns how it exits; undefined if it starts successfully. */
async function startWithLimit(files: number): Promise<{ code: unknown; sentences: string[] } | undefined> {
  const by = ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`, process.execPath, 'cli/main.ts'];
  const args = ['run', '--root-dir', join(directory, 'root'), '--pod-log-dir', join(directory, 'logs')];
  const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const daemon = startStatelet([...args, ...nowhere, '--pod-manifest-path', join(directory, 'pods')], {
    by,
    // Otherwise Node.js itself prints that it cannot read that file.
    env: { NODE_EXTRA_CA_CERTS: '' },
  });
  const runs = daemon.says('the node agent is running').then(
    () => true,
    () => false,
  );
  if (await runs) {
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
    return undefined;
  }
  const sentences = daemon
    .err()
    .split('\n')
    .filter((line) => line !== '' && !/^[IWEF]\d{4} /.test(line));
  return { code: await daemon.ended, sentences };
}

/** Returns the lowest limit with which Node.js itself starts a program. */
function fewest(): number {
  const starts = (files: number) =>
    spawnSync('sh', ['-c', `ulimit -n ${files}; exec "$0" cli/main.ts --version`, process.execPath]).status === 0;
  for (let files = 20; ; files++) if (starts(files)) return files;
}

test('with too few open files the daemon exits with one sentence and exit code 1, or it runs', async () => {
  let refused = 0;
  for (let files = fewest(); ; files += 2) {
    const ending = await startWithLimit(files);
    if (ending === undefined) {
      // The limit that the launcher requests is sufficient, whatever the number of processes on the host.
      expect(files).toBeLessThan(64);
      break;
    }
    refused += 1;
    const sentence = /^statelet: .*(EMFILE|package config).*: too many open files: raise the limit \(ulimit -n\)$/;
    expect({ files, ...ending }).toEqual({ files, code: 1, sentences: [expect.stringMatching(sentence)] });
    const claims = join(directory, 'root/agents');
    expect(existsSync(claims) ? readdirSync(claims) : []).toEqual([]);
  }
  expect(refused).toBeGreaterThan(0);
}, 120_000);
