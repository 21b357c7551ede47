import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { AgentPlacement } from '../../../node/host/agentPlacement.ts';

/** Creates an agent that can be moved to a different cgroup, and records its actions. */
function createPlacement(kubeletCgroups?: string) {
  const clock = new SimulatedClock();
  const host = { cgroup: '/started', problem: undefined as string | Error | undefined };
  const done: string[] = [];
  const placement = new AgentPlacement({
    resources: { oomScoreAdj: -999, ...(kubeletCgroups ? { kubeletCgroups } : {}) },
    logger: { info: (text: string) => void done.push(text), warn: (text: string) => void done.push(text) },
    clock,
    isInCgroup: (name) => host.cgroup === name,
    moveToCgroup: async (name) => {
      if (host.problem instanceof Error) throw host.problem;
      if (host.problem !== undefined) return host.problem;
      done.push(`moved to ${name}`);
      host.cgroup = name;
      return undefined;
    },
    applyScore: async (score) => {
      done.push(`score ${score}`);
      return undefined;
    },
  });
  return { clock, host, placement, taken: () => done.splice(0) };
}

test('C43: an agent that was moved to a different cgroup returns to its own within a minute', async () => {
  const { clock, host, placement, taken } = createPlacement('/own');
  await placement.apply();
  expect(taken()).toEqual(['moved to /own', 'score -999']);
  const end = placement.repeat();
  await clock.advance(60_000);
  expect(taken()).toEqual(['score -999']);
  host.cgroup = '/elsewhere';
  await clock.advance(60_000);
  expect(taken()).toEqual(['moved to /own', 'score -999']);
  end();
  await clock.advance(600_000);
  expect(taken()).toEqual([]);
});

test('C43: an agent without its own cgroup sets its OOM score again every five minutes', async () => {
  const { clock, placement, taken } = createPlacement();
  const end = placement.repeat();
  await clock.advance(299_999);
  expect(taken()).toEqual([]);
  await clock.advance(1);
  expect(taken()).toEqual(['score -999']);
  end();
});

test('C43: the OOM score of this process is set', async () => {
  const readScore = async () => Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
  // Raising it needs no capability.
  const oomScoreAdj = Math.max(await readScore(), 1);
  const logger = { info: () => {}, warn: () => {} };
  await new AgentPlacement({ resources: { oomScoreAdj }, logger, clock: new SimulatedClock() }).apply();
  expect(await readScore()).toBe(oomScoreAdj);
});

test('a problem is logged once until it is solved', async () => {
  const { clock, host, placement, taken } = createPlacement('/own');
  host.problem = 'no cgroups here';
  const end = placement.repeat();
  await clock.advance(180_000);
  expect(taken().filter((text) => !text.startsWith('score'))).toEqual(['no cgroups here']);
  host.problem = undefined;
  await clock.advance(60_000);
  host.cgroup = '/elsewhere';
  host.problem = 'no cgroups here';
  await clock.advance(60_000);
  expect(taken().filter((text) => !text.startsWith('score'))).toEqual(['moved to /own', 'no cgroups here']);
  end();
});

test('a check that fails is logged, and the next one moves the agent', async () => {
  const { clock, host, placement, taken } = createPlacement('/own');
  host.problem = new Error('EMFILE: too many open files');
  const end = placement.repeat();
  await clock.advance(60_000);
  expect(taken()).toEqual(['score -999', 'the agent cannot move to the cgroup /own: EMFILE: too many open files']);
  host.problem = undefined;
  await clock.advance(60_000);
  expect(taken()).toEqual(['moved to /own', 'score -999']);
  end();
});
