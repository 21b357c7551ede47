import { expect, test } from '@jest/globals';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { oomKillsShown } from '../../../../../testing/simulation/invariants/statuses/oomKillsShown.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../../testing/simulation/stories/manifests.ts';

/**
 * Creates a node with two pods, one of which the kernel has killed, and an invariant that is fed with made-up events
 * and statuses.
 */
async function killedNode() {
  const node = await simulateNode({ seed: 1 });
  for (const name of ['web', 'other']) node.apply(manifest(name));
  await node.advance(10_000);
  node.perform({ kind: 'systemOom', which: 0 });
  await node.advance(10_000);
  const broken: string[] = [];
  const watched = { host: node.host, agent: {} } as unknown as Watched;
  const hooks = oomKillsShown.follow(watched, (message) => void broken.push(message));
  const event = (pid: number) =>
    hooks.onEvent?.({
      reason: 'SystemOOM',
      message: `System OOM encountered, victim process: a, pid: ${pid}`,
    } as never);
  /** Reports a status with a container that was terminated when the kernel killed a process. */
  const status = (id: string, pid: number) => {
    const terminated = {
      containerID: `containerd://${id}`,
      message: `limit: the kernel killed process a (pid ${pid})`,
    };
    hooks.onStatus?.({ pod: { status: { containerStatuses: [{ lastState: { terminated } }] } } } as never);
  };
  return { node, hooks, event, status, violations: () => broken.splice(0) };
}

test('each agent reports each system OOM kill once', async () => {
  const { node, hooks, event, violations } = await killedNode();
  const [pid = 0] = node.host.oomKills.map((kill) => kill.pid);
  hooks.atRest?.();
  expect(violations()).toEqual([`no event about the system OOM kill of process ${pid}`]);
  event(pid);
  hooks.atRest?.();
  expect(violations()).toEqual([]);
  event(pid);
  event(9);
  expect(violations()).toEqual([
    `a second event about the same kill: System OOM encountered, victim process: a, pid: ${pid}`,
    'an event about a kill that did not happen: System OOM encountered, victim process: a, pid: 9',
  ]);
  hooks.onAgentStarted?.();
  event(pid);
  expect(violations()).toEqual([]);
  node.kill();
});

test('a container has the message of its own OOM kill', async () => {
  const { node, status, violations } = await killedNode();
  const [pid = 0] = node.host.oomKills.map((kill) => kill.pid);
  const isKilled = (id: string) => node.host.oomKills.some(({ cgroup }) => cgroup.includes(id));
  const ids = node.host.containers().map(({ id }) => id);
  const [own = ''] = ids.filter(isKilled);
  const [other = ''] = ids.filter((id) => !isKilled(id));
  status(own, pid);
  expect(violations()).toEqual([]);
  status(other, pid);
  expect(violations()).toEqual([expect.stringMatching(`^container ${other} has the message of a kill in /kubepods/`)]);
  node.kill();
});

test('a system OOM kill is reported later if the kernel log cannot be read at first', async () => {
  const node = await simulateNode({ seed: 1 });
  node.apply(manifest('web'));
  await node.advance(10_000);
  node.perform({ kind: 'flaky', target: 'disk', share: 1, forMs: 20_000 });
  node.perform({ kind: 'systemOom', which: 0 });
  await node.advance(60_000);
  node.check({ isAtRest: true });
  node.kill();
});
