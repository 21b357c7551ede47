import { expect, test } from '@jest/globals';
import { confirmedProcessKills, withProcessKill } from '../../../../machines/node/runtime/processKills.ts';
import { nodeStory } from '../../support/nodeStory.ts';

const kill = (cgroup: string) => ({ at: 0, pid: 1, processName: 'a', cgroup, limitedCgroup: '/kubepods' });
const inContainer = kill(`/kubepods/${'a'.repeat(64)}`);

const { readiness: _, ...context } = nodeStory().context();
const reporting = { ...context, reportsProcessOomKills: true };

test.each([
  ['if the node does not report such kills', { ...context }, inContainer],
  ['outside of containers', reporting, kill('/system.slice/cron.service')],
  [
    'after a hundred others',
    { ...reporting, processKills: Array.from({ length: 100 }).fill({}) as never },
    inContainer,
  ],
])('a process kill %s is not queued for a report', (_title, from, each) => {
  expect(withProcessKill(from, each)).toBeUndefined();
});

test('a kill waits for three ticks of a node whose runtime is ready, and is dropped if its container is unknown', () => {
  let processKills = withProcessKill(reporting, inContainer) ?? [];
  const tick = (ready: boolean) => {
    const health = { ...context.health, ready };
    const confirmed = confirmedProcessKills({ ...reporting, processKills, health });
    processKills = confirmed.processKills;
    return confirmed.events;
  };
  expect([tick(true), tick(false), tick(true), processKills.length]).toEqual([[], [], [], 1]);
  expect([tick(true), processKills]).toEqual([[], []]);
});
