import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import { changeSentences } from '../../../../cli/terminal/table/changeSentences.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import {
  backOff,
  NOW,
  podView,
  running,
  type ShownPod,
  sandbox,
  volumeView,
  waiting,
} from '../../../kubernetes/views.ts';

/** Returns the sentences for a pod that has these views one after the other. */
function story(...views: ShownPod[]): string[][] {
  const agent = fakeAgent({ now: NOW });
  const sentences = changeSentences();
  const sentenceLists: string[][] = [];
  agent.subscribe((change: PodChange) => sentenceLists.push(sentences(change, NOW)));
  for (const view of views) agent.show(view);
  return sentenceLists;
}

const meta = { name: 'web-host' };

test('a new state is described with the previous state, the phase and the IP', () => {
  const sandboxing = podView({ main: {}, meta, view: { state: 'sandboxing', waitingFor: 'its sandbox' } });
  const runs = podView({ main: { web: running() }, meta, view: { sandbox: sandbox('10.1.0.2') } });
  expect(story(sandboxing, runs)).toEqual([
    ['pod/web-host sandboxing, phase Pending, waiting for its sandbox'],
    ['pod/web-host running (was sandboxing), phase Running, IP 10.1.0.2', 'pod/web-host container/web running'],
  ]);
});

test('a container in back-off is described with its restarts and its delay', () => {
  const view = { sandbox: sandbox('10.1.0.2') };
  const wait = { waitingFor: 'the back-off', until: NOW + 9000, state: 'ended.backingOff', restartCount: 2 };
  const [, second] = story(
    podView({ main: { web: running() }, meta, view }),
    podView({ main: { web: backOff(1, wait) }, meta, view }),
  );
  expect(second).toEqual([
    'pod/web-host container/web ended.backingOff (was running), restarts 2, waiting for the back-off for 9s',
  ]);
});

test('a rejection is described with its reason, a wait with the previous failure, and a pod with its namespace', () => {
  const lastFailure = { reason: 'FailedMount', message: 'no such directory', at: NOW } as const;
  const failed = volumeView('data', { mounted: false, state: 'mounting', waitingFor: 'the next attempt', lastFailure });
  const refusal = { reason: 'OutOfcpu', message: 'too few cores' } as const;
  const there = { name: 'web-host', namespace: 'shop' };
  const [first, second, third] = story(
    podView({ main: {}, meta: there, view: { state: 'terminated', hasEnded: true, refusal } }),
    podView({ main: {}, meta: there, view: { state: 'preparing', volumes: [failed] } }),
    podView({ main: {}, meta: there, view: { state: 'preparing', volumes: [volumeView('data', { lastFailure })] } }),
  );
  expect(first).toEqual(['pod/shop/web-host terminated, phase Failed, refused: OutOfcpu: too few cores']);
  expect(second?.[1]).toBe('pod/shop/web-host volume/data mounting, after FailedMount, waiting for the next attempt');
  expect(third).toEqual(['pod/shop/web-host volume/data mounted (was mounting)']);
});

test('an unchanged pod is not described again', () => {
  const same = podView({ main: { web: waiting() }, meta, view: { volumes: [volumeView('data')] } });
  expect(story(same, same)[1]).toEqual([]);
});

test('a removed pod is described once, and as new when it comes back', () => {
  const agent = fakeAgent({ now: NOW });
  const sentences = changeSentences();
  const sentenceLists: string[][] = [];
  agent.subscribe((change) => sentenceLists.push(sentences(change, NOW)));
  const view = podView({ main: {}, meta });
  agent.show(view);
  agent.remove(view);
  agent.show(view);
  expect(sentenceLists[1]).toEqual(['pod/web-host is gone']);
  expect(sentenceLists[2]).toEqual(sentenceLists[0]);
});

test('in a pod with many containers only the changed ones are inspected', () => {
  const names = Array.from({ length: 200 }, (_, index) => `c${index}`);
  const shown = podView({ main: Object.fromEntries(names.map((name) => [name, running()])), meta });
  const agent = fakeAgent({ now: NOW });
  const sentences = changeSentences();
  let reads = 0;
  let change: PodChange | undefined;
  agent.subscribe((seen) => {
    change = seen;
  });
  agent.show(shown);
  if (change === undefined) throw new Error('no change was told');
  const { tree } = change;
  const counted = tree.children.map(
    (actor) =>
      new Proxy(actor, {
        get: (target, key) => {
          if (key === 'state') reads += 1;
          return Reflect.get(target, key);
        },
      }),
  );
  const sentencesOf = (children: typeof counted) =>
    sentences({ ...change, tree: { ...tree, children } } as PodChange, NOW);
  expect(sentencesOf(counted)).toHaveLength(1 + names.length);
  const [first, ...others] = counted;
  const changed = { ...tree.children[0], state: 'ended.backingOff' } as (typeof counted)[number];
  reads = 0;
  expect(sentencesOf([changed, ...others])).toEqual([expect.stringContaining('ended.backingOff (was running)')]);
  expect(first).toBeDefined();
  expect(reads).toBeLessThanOrEqual(4);
});
