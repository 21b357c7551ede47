/** `npm run playground`: starting, using and stopping a cluster of one node. */
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { Kubectl } from './support/kubectl.ts';
import { packageNode, type Statelet, startStatelet } from './support/statelet.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(180_000);

const setup = [packageNode[0], join(root, 'scripts/setup.mjs'), '--run'];

/** Stops gracefully whatever a failed test has left running. */
async function endIfAlive({ kill, mustLive, ended }: Statelet): Promise<void> {
  try {
    mustLive();
  } catch {
    return;
  }
  kill('SIGINT', 'group');
  await ended;
}

test('a playground user creates a pod with the printed kubeconfig, and Ctrl-C leaves nothing behind', async () => {
  const playground = startStatelet(['playground', '--inspect-address', ''], { by: setup });
  try {
    await playground.says(/kubectl describe .*\n/);
    const [, kubeconfig = '', ...commands] =
      /export KUBECONFIG=(.*)\n +kubectl (apply .*)\n +kubectl (describe .*)\n/.exec(playground.out()) ?? [];
    const [apply = [], describe = []] = commands.map((command) => command.split(' '));
    const directory = dirname(kubeconfig);
    const kubectl = new Kubectl('sid', { kubeconfig, directory });
    expect(await kubectl.run(...apply)).toBe('pod/web created\n');
    await kubectl.run('wait', '--for=condition=Ready', '--timeout=50s', 'pod/web');
    expect(await kubectl.run(...describe)).toMatch(/^Node: +playground\//m);
    const marks = await marksOf(join(directory, 'state', 'containerd'));
    expect(await traces(marks)).toContainEqual(expect.stringContaining('of a pod'));
    playground.kill('SIGINT', 'group');
    expect(await playground.ended).toBe(0);
    await expect(access(directory)).rejects.toThrow('ENOENT');
    expect(await traces({ ...marks, directory })).toEqual([]);
  } finally {
    await endIfAlive(playground);
  }
});
