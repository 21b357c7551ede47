/** A private containerd that is started again for an agent that goes on, and a start that cannot even be taken back. */
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
let said: string[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'statelet-restarts-'));
  directory = join(base, 'containerd');
  said = [];
});

afterEach(async () => {
  process.env.PATH = PATH;
  await removeContainerd(directory, pause);
  await rm(base, { recursive: true });
});

const start = (isRestart = false, signal = noAbort) =>
  startManagedContainerd({ directory, signal, pause, isRestart, onProgress: (step) => said.push(step) });

/** From now on these programs are others. From its first moment on each is seen under its own name. */
async function replaced(programs: Readonly<Record<string, string>>): Promise<void> {
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
  await replaced({ ctr: failing('no space left') });
  const again = await start(true);
  expect([await isAlive(), await again.isAlive(), again.pid === pid]).toEqual([false, true, false]);
  expect(said.at(-1)).toMatch(/^its images could not be imported again: ctr .*: no space left$/);
});

test('a failed start is reported with its reason and with a failed cleanup', async () => {
  await replaced({ ctr: failing('no space left'), 'iptables-save': failing('no rules') });
  await expect(start()).rejects.toThrow(/^ctr .*: no space left; cleaning up after this start failed: .*: no rules$/);
});

describe('an unready containerd', () => {
  const asked = () => readFile(join(base, 'asked'), 'utf8').catch(() => 'not asked');

  /** A containerd that never gets ready. */
  const neverReady = () => {
    const script = `const { writeFileSync: write } = require('node:fs');
process.on('SIGTERM', () => write('${base}/asked', 'asked'));
write('${base}/runs', '');
setInterval(() => {}, 1_000);`;
    return replaced({ containerd: `exec -a containerd ${process.execPath} -e "${script}" -- "$@"` });
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
    expect([await asked(), await findContainerd(layoutOf(directory))]).toEqual(['not asked', undefined]);
  });

  test('is killed without SIGTERM when the next start finds it, so that existing containers survive', async () => {
    await (await start()).stop(noAbort);
    await neverReady();
    const { pid } = await spawnContainerd(layoutOf(directory));
    await runs();
    process.env.PATH = PATH;
    const next = await start();
    expect([await asked(), next.pid === pid]).toEqual(['not asked', false]);
  });
});
