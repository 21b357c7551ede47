import { describe, expect, test } from '@jest/globals';
import type { CgroupSetup } from '../../../kubernetes/resources/cgroup.ts';
import { explainNode } from '../../../show/explain/explainNode.ts';
import { formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import { nodeStory } from '../support/nodeStory.ts';

const MINUTE = 60_000;
const enforced = { outcome: 'enforced', warnings: [] } as const;
const why = 'Failed to update Node Allocatable Limits ["kubepods"]';
const IN_FORCE = 'Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods';
const inTheWay = `Warning FailedNodeAllocatableEnforcement: ${why}`;

/** Creates a node for which the test decides when its cgroups are set up. */
function node(options: Parameters<typeof nodeStory>[0] = {}) {
  const story = nodeStory({ held: ['setUpCgroups'], ...options });
  story.list();
  story.want([]);
  story.told();
  const { ports } = story;
  return {
    ...story,
    found: (output: CgroupSetup) => ports.answer('setUpCgroups', output),
    refused: (because: string) => ports.fail('setUpCgroups', 'FailedNodeAllocatableEnforcement', `${why}: ${because}`),
    looks: () => ports.asked('setUpCgroups').length,
    cgroups: () => story.own('cgroups'),
    told: () => story.told().filter((event) => event.includes('Allocatable')),
    /** Returns what `explain node` prints about the cgroups. */
    explained: () => {
      const view = story.view();
      // Node stories do not record when a state started, so let every state start now.
      const own = view.tree.children.filter(({ name }) => name === 'cgroups');
      const children = own.map((part) => ({
        ...part,
        since: ports.now,
        ...(part.until === undefined ? {} : { until: ports.now + part.until }),
      }));
      const text = formatNodeExplanation(explainNode({ ...view, tree: { ...view.tree, children } }, ports.now));
      return text.slice(text.indexOf('cgroups  ')).trimEnd();
    },
  };
}

describe('C25: the parent cgroups of pods', () => {
  test('are set up at once, with one event when the limit of all pods is in force', () => {
    const { found, cgroups, told, looks, ports } = node();
    expect(looks()).toBe(1);
    expect(cgroups()).toMatchObject({ state: 'settingUp', waitingFor: 'the parent cgroups of pods to be set up' });
    found(enforced);
    expect(cgroups()).toMatchObject({ state: 'enforced.waiting', facts: [] });
    expect(told()).toEqual([IN_FORCE]);
    ports.advance(MINUTE);
    found(enforced);
    expect([looks(), told()]).toEqual([2, []]);
  });

  test('are retried each minute with an event if the kernel rejects the limit, until it is in force', () => {
    const { found, refused, cgroups, told, looks, ports } = node();
    refused('device or resource busy');
    expect(cgroups()).toMatchObject({
      state: 'awaitingEnforcement.waiting',
      waitingFor: 'another attempt to set the limit of all pods',
      until: MINUTE,
      lastFailure: { message: `${why}: device or resource busy` },
    });
    expect(told()).toEqual([`${inTheWay}: device or resource busy`]);
    ports.advance(MINUTE - 1);
    expect(looks()).toBe(1);
    ports.advance(1);
    refused('still busy');
    expect(told()).toEqual([`${inTheWay}: still busy`]);
    ports.advance(MINUTE);
    found(enforced);
    expect(told()).toEqual([IN_FORCE]);
    expect(cgroups()).not.toHaveProperty('lastFailure');
    ports.advance(MINUTE);
    refused('busy again');
    expect(told()).toEqual([`${inTheWay}: busy again`]);
  });

  test('are left alone while they contain pods of other agents, which is recorded once', () => {
    const { found, cgroups, told, ports } = node();
    const shared = { outcome: 'shared', warnings: [`${why}: /kubepods holds others`, '/pod lacks memory'] } as const;
    found(shared);
    expect(told()).toEqual([`${inTheWay}: /kubepods holds others`]);
    expect(cgroups()).toMatchObject({
      state: 'sharedWithOthers.waiting',
      until: MINUTE,
      facts: shared.warnings,
      waitingFor: 'pods of other agents to leave the cgroups',
    });
    ports.advance(MINUTE);
    found(shared);
    expect(told()).toEqual([]);
    ports.advance(MINUTE);
    found(enforced);
    expect([cgroups()?.state, told()]).toEqual(['enforced.waiting', [IN_FORCE]]);
    ports.advance(MINUTE);
    found(shared);
    expect([cgroups()?.state, told()]).toEqual(['sharedWithOthers.waiting', [`${inTheWay}: /kubepods holds others`]]);
  });

  test('are shown as forbidden if the host does not permit them, without retries', () => {
    const { found, cgroups, told, looks, ports } = node();
    found({ outcome: 'forbidden', warnings: ['read-only'] });
    ports.advance(10 * MINUTE);
    expect([cgroups()?.state, cgroups()?.facts, looks(), told()]).toEqual(['forbidden', ['read-only'], 1, []]);
  });

  test('show beside them the cgroups of daemons whose limits are set', () => {
    const { found, cgroups } = node({ reservedCgroups: ['Updated limits on system reserved cgroup /system'] });
    found({ outcome: 'enforced', warnings: ['/pod lacks memory'] });
    expect(cgroups()?.facts).toEqual(['/pod lacks memory', 'Updated limits on system reserved cgroup /system']);
  });

  test('are shown as unused if they are left to the runtime, without further checks', () => {
    const { found, cgroups, looks, ports } = node();
    found({ outcome: 'unused', warnings: [] });
    ports.advance(10 * MINUTE);
    expect(cgroups()).toMatchObject({ state: 'unused', tags: ['done', 'unused'], facts: [] });
    expect(looks()).toBe(1);
  });

  const shared = { outcome: 'shared', warnings: [`${why}: /kubepods holds others`] } as const;
  test.each([
    ['enforced', ({ found }: ReturnType<typeof node>) => found(enforced)],
    ['awaitingEnforcement', ({ refused }: ReturnType<typeof node>) => refused('busy')],
    ['sharedWithOthers', ({ found }: ReturnType<typeof node>) => found(shared)],
  ] as const)('follow the result of a later check: %s', (state, begin) => {
    const later = (look: (story: ReturnType<typeof node>) => void) => {
      const story = node();
      begin(story);
      expect(story.cgroups()?.state).toBe(`${state}.waiting`);
      story.ports.advance(MINUTE);
      look(story);
      return story.cgroups()?.state;
    };
    expect(later(({ found }) => found(enforced))).toBe('enforced.waiting');
    expect(later(({ found }) => found(shared))).toBe('sharedWithOthers.waiting');
    expect(later(({ found }) => found({ outcome: 'forbidden', warnings: [] }))).toBe('forbidden');
    expect(later(({ found }) => found({ outcome: 'unused', warnings: [] }))).toBe('unused');
    expect(later(({ refused }) => refused('busy'))).toBe('awaitingEnforcement.waiting');
  });

  test('are not checked after the node has stopped', () => {
    const { refused, drain, looks, ports, state } = node();
    refused('device or resource busy');
    drain();
    expect(state()).toBe('stopped');
    ports.advance(10 * MINUTE);
    expect(looks()).toBe(1);
  });

  test('show the wait with its end and the last failure in explain node', () => {
    const { refused, explained } = node();
    refused('device or resource busy');
    expect(`\n${explained()}`).toBe(`
cgroups  awaitingEnforcement.waiting  0s
     waiting for another attempt to set the limit of all pods until 00:01:00 (in
     60s)
     last failure, 0s ago: FailedNodeAllocatableEnforcement: Failed to update
     Node Allocatable Limits ["kubepods"]: device or resource busy`);
  });
});
