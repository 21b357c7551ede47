import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { supportsTmpfsNoswap } from '../../node/host/tmpfsNoswap.ts';
import { eventually } from './support/eventually.ts';
import { hearing, podManifest } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

/** A cgroup for other daemons, which the agent does not belong to. */
const daemons = `statelet-daemons-${process.pid}`;
const hierarchies = await readHierarchies();
const isV1 = findHierarchy(hierarchies, 'cpu')?.version === 'v1';
const directories = hierarchies
  .filter(({ version }) => version === (isV1 ? 'v1' : 'v2'))
  .map(({ root }) => join(root, daemons));
for (const directory of directories) mkdirSync(directory);
afterAll(() => {
  for (const directory of directories) rmdirSync(directory);
});

const reserved = [
  'systemReserved: {cpu: 100m, memory: 128Mi, pid: "1000"}',
  'enforceNodeAllocatable: [pods, system-reserved]',
];
const eventListSchema = z.object({ items: z.array(z.object({ reason: z.string(), message: z.string() })) });
const read = (controller: string, file: string) =>
  readFileSync(join(findHierarchy(hierarchies, controller)?.root ?? '', daemons, file), 'utf8').trim();

test('C25: a node limits the existing cgroup of the system daemons, and mounts volumes in memory without swap', async () => {
  const node = await runNode(...reserved, `systemReservedCgroup: /${daemons}`);
  try {
    await node.start();
    expect(read('memory', isV1 ? 'memory.limit_in_bytes' : 'memory.max')).toBe(String(128 * 2 ** 20));
    expect(read('cpu', isV1 ? 'cpu.shares' : 'cpu.weight')).toBe(isV1 ? '102' : '4');
    expect(read('pids', 'pids.max')).toBe('1000');
    await eventually('both enforcements are reported', async () => {
      const { items } = z.parse(eventListSchema, await node.ask('/api/v1/events'));
      const messages = items.filter(({ reason }) => reason === 'NodeAllocatableEnforced').map(({ message }) => message);
      return (
        messages.includes(`Updated limits on system reserved cgroup /${daemons}`) &&
        messages.includes('Updated Node Allocatable limit across pods')
      );
    });
    const { out } = await statelet('explain', 'node', '--root-dir', node.rootDir);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`Updated limits on system reserved cgroup /${daemons}`);
    const volumes = [{ name: 'fast', emptyDir: { medium: 'Memory' } }];
    await node.write('fast', podManifest('fast', [hearing('main')], { volumes }));
    const { uid } = (await node.running('fast')).metadata;
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    const mount = mounts.split('\n').find((line) => line.includes(`${uid}/volumes/kubernetes.io~empty-dir/fast `));
    expect(mount?.includes('noswap')).toBe(await supportsTmpfsNoswap({ directory: node.directory }));
    await node.remove('fast');
    await node.gone('fast');
  } finally {
    await node.end();
  }
});

test('C25: a node does not start without the cgroup of the system daemons', async () => {
  const node = await runNode(...reserved, 'systemReservedCgroup: /statelet-missing');
  try {
    const agent = node.launch();
    expect(await agent.ended).toBe(1);
    expect(agent.err()).toContain(
      'Failed to enforce System Reserved Cgroup Limits on "/statelet-missing": cgroup ["statelet-missing"] has some missing paths: ',
    );
  } finally {
    await node.end();
  }
});

test('C25: a node does not start if it reserves more than it has', async () => {
  const node = await runNode('kubeReserved: {cpu: "9999"}');
  try {
    const agent = node.launch();
    expect(await agent.ended).toBe(1);
    expect(agent.err()).toMatch(
      /invalid Node Allocatable configuration\. Resource "cpu" has a reservation of 9999 but capacity of \d+\. Expected capacity >= reservation\./,
    );
  } finally {
    await node.end();
  }
});
