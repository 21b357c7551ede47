import { describe, expect, test } from '@jest/globals';
import type { OomKill } from '../../../../kubernetes/lifecycle/oomKill.ts';
import { nextOomWatch, oomWatchViews } from '../../../../machines/node/runtime/oomWatch.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const kill = (pid: number): OomKill => ({
  at: 5,
  pid,
  processName: 'java',
  memoryBytes: 2 ** 20,
  cgroup: '/a',
  limitedCgroup: '/',
});
const failure = { reason: 'FailedRead', message: 'EPERM', at: 7 } as const;

test('OOM kills are counted, and the last one is shown, even while the log cannot be read', () => {
  const one = nextOomWatch(undefined, { type: 'node.oomKilled', kill: kill(1) });
  const two = nextOomWatch(one, { type: 'node.oomKilled', kill: kill(2) });
  expect(oomWatchViews(one)).toEqual([
    {
      name: 'oomWatcher',
      path: 'oomWatcher',
      state: 'watching',
      tags: ['steady'],
      since: 5,
      facts: ['1 system OOM kill, last process java (pid 1), which held 1.0 MiB'],
    },
  ]);
  const failing = nextOomWatch(two, { type: 'node.oomWatchChanged', failure, at: 7 });
  expect(oomWatchViews(failing)).toMatchObject([
    {
      state: 'failing',
      since: 7,
      lastFailure: failure,
      facts: ['2 system OOM kills, last process java (pid 2), which held 1.0 MiB'],
    },
  ]);
  const readable = nextOomWatch(failing, { type: 'node.oomWatchChanged', at: 9 });
  expect(readable).toEqual({ since: 9, systemKillCount: 2, lastSystemKill: kill(2) });
});

describe.each(['starting', 'running', 'draining'])('a node that is %s', (state) => {
  test('records each system OOM kill as an event of its Node', () => {
    const story = nodeStory();
    if (state !== 'starting') {
      story.list();
      story.want([namedPod('web')]);
    }
    story.ports.hold('stopContainer');
    if (state === 'draining') story.drain();
    expect(story.state()).toBe(state);
    story.tell({ type: 'node.oomKilled', kill: kill(1) });
    story.tell({ type: 'node.oomKilled', kill: kill(2) });
    expect(story.context().oomWatch?.systemKillCount).toBe(2);
    expect(story.told().filter((event) => event.includes('OOM'))).toEqual([
      'Warning SystemOOM: System OOM encountered, victim process: java, pid: 1',
      'Warning SystemOOM: System OOM encountered, victim process: java, pid: 2',
    ]);
  });
});
