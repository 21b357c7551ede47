import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { readCpuTopology } from '../../host/usage/cpuTopology.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { formatCpuSet, without } from '../../kubernetes/cpus/cpuSet.ts';
import { allCpus } from '../../kubernetes/cpus/cpuTopology.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { hearing, podManifest } from './support/manifests.ts';
import { containerOf, runNode } from './support/node.ts';

const node = await forAllTests(() =>
  runNode('cpuManagerPolicy: static', 'cpuManagerReconcilePeriod: 1s', 'reservedSystemCPUs: "0"'),
);
const hierarchies = await readHierarchies();

/** A Guaranteed pod whose container requests one CPU. */
const guaranteed = podManifest('whole', [hearing('main', { resources: { limits: { cpu: '1', memory: '64Mi' } } })]);

/** Reads a file of the container's cgroup from the kernel. */
async function readCgroupFile(pod: Pod, controller: string, file: string): Promise<string> {
  const id = containerOf(pod).containerID?.replace(/^.*:\/\//, '') ?? '';
  const root = findHierarchy(hierarchies, controller)?.root ?? '';
  const { cgroupParent } = node.runtime.containerd;
  const qos = pod.status?.qosClass === 'Guaranteed' ? '' : 'besteffort';
  const path = join(root, cgroupParent, 'kubepods', qos, `pod${pod.metadata.uid}`, id, file);
  const text = await readFile(path, 'utf8');
  return text.trim();
}

const cpusOf = (pod: Pod): Promise<string> => readCgroupFile(pod, 'cpuset', 'cpuset.cpus');

const hasCpus = (pod: Pod, cpus: string) =>
  eventually(`it runs on the CPUs ${cpus}`, async () => (await cpusOf(pod)) === cpus || undefined);

test('a container has its exclusive CPU to itself and without a quota, even after an agent restart', async () => {
  const cpus = allCpus(await readCpuTopology());
  const exclusive = without(cpus, [0]).slice(0, 1);
  const [own, others] = [exclusive, without(cpus, exclusive)].map(formatCpuSet);
  const agent = await node.start();
  await node.write('shared.yaml', podManifest('shared', [hearing('main')]));
  const shared = await node.running('shared');
  await hasCpus(shared, formatCpuSet(cpus));
  await node.write('whole.yaml', guaranteed);
  const whole = await node.running('whole');
  expect(await cpusOf(whole)).toBe(own);
  await hasCpus(shared, others ?? '');
  const quotaFile = findHierarchy(hierarchies, 'cpu')?.version === 'v2' ? 'cpu.max' : 'cpu.cfs_quota_us';
  expect(await readCgroupFile(whole, 'cpu', quotaFile)).toMatch(/^(-1|max .*)$/);
  agent.kill('SIGKILL');
  await agent.ended;
  await node.start();
  const again = await node.running('whole');
  expect([containerOf(again).containerID, await cpusOf(again)]).toEqual([containerOf(whole).containerID, own]);
  await node.remove('whole.yaml');
  await node.gone('whole');
  await hasCpus(shared, formatCpuSet(cpus));
});
