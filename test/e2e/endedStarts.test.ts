/** A start of `statelet up` that is aborted before the node is ready, or that fails. */
import { access, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { describeContainerdTraces } from '../../cri/managed/containerd/containerd.ts';
import { findContainerd } from '../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { isRunning } from '../../host/runningProcess.ts';
import { socketPath } from '../../socket/socketPath.ts';
import { eventually } from './support/eventually.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { identitiesOf, type UpNode, upNode } from './support/node.ts';
import { type Statelet, startStatelet } from './support/statelet.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(120_000);

let node: UpNode;

beforeEach(async () => {
  node = await upNode();
});

afterEach(() => node.end());

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

const importing = () => join(node.directory, 'importing');

/** Starts `up` with a `ctr` that consists of these lines and leaves a file when it is called. */
async function start(...ctr: readonly string[]): Promise<Statelet> {
  const bin = join(node.directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'ctr'), ['#!/bin/sh', `: > ${importing()}`, ...ctr, ''].join('\n'));
  await chmod(join(bin, 'ctr'), 0o755);
  const PATH = `${bin}:${process.env.PATH}`;
  return startStatelet(['up', '--state-dir', node.directory, '--pod-manifest-path', node.manifests], { env: { PATH } });
}

/** Returns the lines on standard error that do not belong to the log. */
const consoleLines = (up: Statelet) =>
  up
    .err()
    .trimEnd()
    .split('\n')
    .filter((line) => !/^[IWEF]\d{4} /.test(line));

const slowly = ['sleep 3', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'exec ctr "$@"'];

/** Lists everything that the private containerd has on the host, including traces of the subnet that it used. */
async function findTraces(subnet: string): Promise<string[]> {
  const { cgroupParent } = layoutOf(node.containerdDirectory);
  const marks = { directory: node.directory, cgroupParent, subnet, chains: [], links: [], processes: [] };
  return [...(await describeContainerdTraces(node.containerdDirectory)), ...(await traces(marks))];
}

const readSubnet = async () =>
  (await readFile(layoutOf(node.containerdDirectory).subnetFile, 'utf8')).replace(/0\/24$/, '');

const moments = {
  'before containerd runs': (up: Statelet) => up.says('starting a private containerd'),
  'before containerd is ready': () =>
    eventually('containerd runs', async () => {
      return (await findContainerd(layoutOf(node.containerdDirectory))) !== undefined;
    }),
  'during the import of images': () => eventually('the import', () => exists(importing())),
} as const;

describe('the start of `statelet up`', () => {
  test.each([
    ['Ctrl-C before containerd runs', 'SIGINT', 'group', 'before containerd runs'],
    ['Ctrl-C before containerd is ready', 'SIGINT', 'group', 'before containerd is ready'],
    ['Ctrl-C during the import of images', 'SIGINT', 'group', 'during the import of images'],
    ['SIGTERM during the import of images', 'SIGTERM', undefined, 'during the import of images'],
  ] as const)('interrupted by %s leaves nothing behind, and the next start succeeds', async (_, signal, to, moment) => {
    const up = await start(...slowly);
    await moments[moment](up);
    const subnet = await readSubnet();
    up.kill(signal, to);
    expect(await up.ended).toBe(0);
    expect(consoleLines(up)).toEqual([]);
    expect(up.out()).toMatch(/"statelet has stopped before it was ready"\n$/);
    expect(await findTraces(subnet)).toEqual([]);

    const next = await node.start();
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
  });

  test('reports a failed image import in one line and leaves nothing behind', async () => {
    const up = await start('sleep 3', 'echo no space left >&2', 'exit 1');
    await moments['during the import of images']();
    const subnet = await readSubnet();
    expect(await up.ended).toBe(1);
    expect(consoleLines(up)).toEqual([expect.stringMatching(/^statelet: ctr .*: no space left$/)]);
    expect(await findTraces(subnet)).toEqual([]);
  });
});

describe('the start of `statelet up` after a killed `up`', () => {
  async function leftPod() {
    await node.write('web', podManifest('web', [shell('main', steadily())]));
    const up = await node.start();
    const before = identitiesOf(await node.running('web'));
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGKILL');
    await up.ended;
    const containerd = await findContainerd(layoutOf(node.containerdDirectory));
    return { before, marks, containerd };
  }

  test('stops the new containerd on Ctrl-C, and the pods continue to run', async () => {
    const { before, marks, containerd } = await leftPod();
    if (containerd !== undefined) process.kill(containerd.pid, 'SIGKILL');
    const up = await start(...slowly);
    await up.says('starting a private containerd');
    up.kill('SIGINT', 'group');
    expect(await up.ended).toBe(0);
    expect(up.out()).toContain('the pods that were running keep running');
    expect(await findContainerd(layoutOf(node.containerdDirectory))).toBeUndefined();
    expect(await Promise.all(marks.processes.map(isRunning))).not.toContain(false);

    const next = await node.start();
    expect(identitiesOf(await node.running('web'))).toEqual(before);
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });

  test('leaves the pods and the running containerd alone if it fails', async () => {
    const { before, marks, containerd } = await leftPod();
    const inTheWay = socketPath(node.rootDir);
    await rm(inTheWay);
    await writeFile(inTheWay, '');
    const up = await start(...slowly);
    expect(await up.ended).toBe(1);
    expect(up.err()).toMatch(/^statelet: .* exists and is not a socket/m);
    expect(await findContainerd(layoutOf(node.containerdDirectory))).toEqual(containerd);
    expect(await Promise.all(marks.processes.map(isRunning))).not.toContain(false);

    await rm(inTheWay);
    await node.start();
    expect(identitiesOf(await node.running('web'))).toEqual(before);
  });
});
