import { beforeEach, expect, test } from '@jest/globals';
import { cgroupProcesses } from '../../../cri/simulated/cgroupProcesses.ts';
import { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { runIn, type Simulation, simulate } from './support.ts';

const POD = 'kubepods/burstable/web';
const directory = `/sys/fs/cgroup/${POD}`;
let simulation: Simulation;
let tree: CgroupTree;
let web: Awaited<ReturnType<typeof runIn>>;
let other: Awaited<ReturnType<typeof runIn>>;

beforeEach(async () => {
  simulation = simulate();
  tree = new CgroupTree('v2', cgroupProcesses(simulation.runtime));
  for (const path of [POD, 'kubepods/burstable/other']) tree.add(path);
  web = await runIn(simulation, 'web');
  other = await runIn(simulation, 'other');
});

const running = () =>
  [...simulation.runtime.containers()].flatMap(({ id, state }) => (state === 'running' ? [id] : []));
const ready = () => [...simulation.runtime.sandboxes()].flatMap((each) => (each.ready ? [each.id] : []));

test('the containers and the sandbox of a pod are in its cgroup until they are killed there', () => {
  expect(() => tree.removeDirectory(directory)).toThrow('EBUSY');
  expect(tree.kill(directory)).toHaveLength(2);
  expect([running(), ready()]).toEqual([[other.container], [other.sandbox]]);
  tree.removeDirectory(directory);
});

test('containers and sandboxes that the runtime has forgotten are in the cgroup as well', () => {
  const { runtime } = simulation;
  runtime.restart({ forget: () => true });
  expect([running(), ready()]).toEqual([[], []]);
  expect(tree.kill(directory)).toHaveLength(2);
  expect([...runtime.strays.containers].map(({ podName, state }) => [podName, state])).toEqual([
    ['web', 'exited'],
    ['other', 'running'],
  ]);
});

test('a container that exceeds the memory limit of its cgroup is OOM-killed', () => {
  simulation.runtime.setMemoryUsage(web.container, 1_000);
  for (const path of ['', '/kubepods', '/kubepods/burstable']) {
    tree.write(`/sys/fs/cgroup${path}/cgroup.subtree_control`, '+memory');
  }
  tree.write(`${directory}/memory.max`, '1000');
  expect(running()).toContain(web.container);
  tree.write(`${directory}/memory.max`, '999');
  expect([running(), ready()]).toEqual([[other.container], [web.sandbox, other.sandbox]]);
});
