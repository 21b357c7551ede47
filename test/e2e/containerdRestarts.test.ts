/** Restarts of a private containerd under a running agent, and a start that cannot even be rolled back. */
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { connectCri } from '../../cri/client/connectCri.ts';
import { imageSpec } from '../../cri/images/imageSpec.ts';
import { removeContainerd, startManagedContainerd } from '../../cri/managed/containerd/containerd.ts';
import { findContainerd, spawnContainerd } from '../../cri/managed/containerd/process.ts';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';

jest.setTimeout(120_000);

const { PATH } = process.env;
let base: string;
let directory: string;
let steps: string[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'statelet-restarts-'));
  directory = join(base, 'containerd');
  steps = [];
});

afterEach(async () => {
  process.env.PATH = PATH;
  await removeContainerd(directory, pause);
  await rm(base, { recursive: true });
});

const start = (isRestart = false, signal = noAbort) =>
  startManagedContainerd({ directory, signal, pause, isRestart, onProgress: (step) => steps.push(step) });

/**
 * Puts these scripts before the host's programs on the PATH. Each runs in a shell that bears the program's name, so
 * that its process has this name even before the script calls exec.
 */
async function replacePrograms(programs: Readonly<Record<string, string>>): Promise<void> {
  const bin = join(base, 'bin');
  const shells = join(base, 'shells');
  await mkdir(bin);
  await mkdir(shells);
  for (const [name, script] of Object.entries(programs)) {
    await symlink('/bin/bash', join(shells, name));
    await writeFile(join(bin, name), `#!${join(shells, name)}\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  process.env.PATH = `${bin}:${PATH}`;
}

const failing = (words: string) => `echo ${words} >&2; exit 1`;

test('a containerd restarted for a running agent works even if an image cannot be imported again', async () => {
  const { endpoint, pid, isAlive, halt } = await start();
  const cri = connectCri({ runtimeEndpoint: endpoint, requestTimeoutMs: 30_000 });
  const image = imageSpec(BUSYBOX_IMAGE);
  await cri.removeImage({ image }, { signal: noAbort });
  cri.close();
  await halt();
  await replacePrograms({ ctr: failing('no space left') });
  const again = await start(true);
  expect([await isAlive(), await again.isAlive(), again.pid === pid]).toEqual([false, true, false]);
  expect(steps.at(-1)).toMatch(/^its images could not be imported again: ctr .*: no space left$/);
});

test('a failed start is reported with its reason and with a failed cleanup', async () => {
  await replacePrograms({ ctr: failing('no space left'), 'iptables-save': failing('no rules') });
  await expect(start()).rejects.toThrow(/^ctr .*: no space left; cleaning up after this start failed: .*: no rules$/);
});

describe('an unready containerd', () => {
  const readSignalRecord = () => readFile(join(base, 'asked'), 'utf8').catch(() => 'not asked');

  /** Replaces containerd by a program that never becomes ready. */
  const neverReady = () => {
    const script = `const { writeFileSync: write } = require('node:fs');
process.on('SIGTERM', () => write('${base}/asked', 'asked'));
write('${base}/runs', '');
setInterval(() => {}, 1_000);`;
    return replacePrograms({ containerd: `exec -a containerd ${process.execPath} -e "${script}" -- "$@"` });
  };
  const runs = () =>
    eventually('it runs', () =>
      readFile(join(base, 'runs'), 'utf8').then(
        () => true,
        () => undefined,
      ),
    );

  test('is killed without SIGTERM when the start is aborted, so that existing containers survive', async () => {
    await neverReady();
    const stop = new AbortController();
    const started = start(false, stop.signal);
    await Promise.race([runs(), started]);
    stop.abort(new Error('Ctrl-C'));
    await expect(started).rejects.toThrow('Ctrl-C');
    expect([await readSignalRecord(), await findContainerd(layoutOf(directory))]).toEqual(['not asked', undefined]);
  });

  test('is killed without SIGTERM when the next start finds it, so that existing containers survive', async () => {
    await (await start()).stop(noAbort);
    await neverReady();
    const { pid } = await spawnContainerd(layoutOf(directory));
    await runs();
    process.env.PATH = PATH;
    const next = await start();
    expect([await readSignalRecord(), next.pid === pid]).toEqual(['not asked', false]);
  });
});
