import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { resourcesOf } from '../../../kubernetes/resources/resize.ts';
import { aContainer } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const web = namedPod('web');

/** Creates a node that runs a pod. */
function runningNode() {
  const story = nodeStory();
  story.list();
  story.want([web]);
  expect(story.pod('web-uid')).toBe('active.running.steady');
  return story;
}

const breaking = (actorId: string) => ({
  type: `xstate.error.actor.${actorId}` as const,
  error: new Error('a mistake'),
  actorId,
});

describe('a failing actor', () => {
  test('of a pod is terminated again within the rest of its grace period while the node drains', () => {
    const story = runningNode();
    story.list(story.world.observed(web));
    story.ports.hold('stopContainer');
    story.drain();
    const [before] = story.ports.asked('stopContainer');
    story.ports.advance(3_000);
    story.podRef('web-uid')?.send(breaking('container/main'));
    expect([story.state(), story.pod('web-uid')]).toEqual(['draining', undefined]);
    story.tick();
    expect(story.pod('web-uid')).toBe('terminating.stoppingContainers.graceful');
    expect(story.ports.asked('stopContainer').at(-1)?.deadline).toBe(before?.deadline);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
  });

  test.each(['cgroups', 'logRotation', 'garbage'])('of %s stops alone, and the node continues', (part) => {
    const story = runningNode();
    story.send(breaking(part) as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['running', 'active.running.steady']);
  });

  test('of a pod is dropped and rebuilt at the next tick', () => {
    const story = runningNode();
    story.send(breaking('pod/web-uid') as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['running', undefined]);
    story.list(story.world.observed(web));
    story.tick();
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('of a pod is terminated again while the node drains', () => {
    const story = runningNode();
    story.list(story.world.observed(web));
    story.ports.hold('stopContainer');
    story.drain();
    story.send(breaking('pod/web-uid') as never);
    expect([story.state(), story.pod('web-uid')]).toEqual(['draining', undefined]);
    story.tick();
    expect(story.pod('web-uid')).toBe('terminating.stoppingContainers.graceful');
  });

  test('of a pod is rebuilt while a source cannot be read', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.tell({ type: 'config.sourceUnread', source: 'http', problems: [] });
    story.want([web]);
    expect([story.state(), story.pod('web-uid')]).toEqual(['partial', 'active.running.steady']);
    story.send({ type: 'xstate.done.actor.pod/web-uid', actorId: 'pod/web-uid', output: { isGone: false } });
    expect(story.pod('web-uid')).toBeUndefined();
    story.list(story.world.observed(web));
    story.tick();
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('of a limiter stops the node agent while the node drains', () => {
    const story = runningNode();
    story.ports.hold('stopContainer');
    story.drain();
    story.send(breaking('startLimiter') as never);
    expect([story.state(), story.status()]).toEqual(['broken', 'done']);
  });

  test.each([
    ['pleg', 'broken'],
    ['ticker', 'broken'],
    ['addresses', 'running'],
    ['podCidr', 'running'],
    ['oomWatcher', 'running'],
  ] as const)('of the feed %s leaves the node %s', (feed, expected) => {
    const story = runningNode();
    story.send({ type: 'feed.ended', feed, failure: { reason: 'Unknown', message: 'a mistake', at: 0 } } as never);
    expect(story.state()).toBe(expected);
  });

  test.each(['admission', 'startLimiter', 'pullLimiter'])(
    'of %s stops the node agent, which reports the failure and stops no container',
    (part) => {
      const story = runningNode();
      story.send(breaking(part) as never);
      expect([story.state(), story.status()]).toEqual(['broken', 'done']);
      expect(story.context().failure?.message).toBe(`${part} of the node agent failed: a mistake`);
      expect(story.ports.asked('stopContainer')).toEqual([]);
    },
  );
});

describe('C25: a rebuilt pod', () => {
  const sized = (cpu: string): Pod =>
    namedPod('web', { containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } } })] });
  const breakings = {
    'a container of it broke': (story: ReturnType<typeof nodeStory>) =>
      story.podRef('web-uid')?.send(breaking('container/main')),
    'its own actor threw': (story: ReturnType<typeof nodeStory>) => story.send(breaking('pod/web-uid') as never),
  };
  const admittedBefore = { ...requestsOf(sized('1')), resources: resourcesOf(sized('1')) };

  /** Creates a node whose pod has been resized since its start, or is being resized. */
  function resizedNode(before?: typeof admittedBefore) {
    const story = nodeStory(before ? { allocations: { 'web-uid': before } } : {});
    story.list();
    story.want([sized('1')]);
    story.want([sized('2')]);
    expect(story.podRef('web-uid')?.getSnapshot().context.allocated).toEqual(sized('2'));
    const rebuilt = () => {
      expect(story.pod('web-uid')).toBeUndefined();
      story.list(story.world.observed(sized('2')));
      story.tick();
      return story.podRef('web-uid')?.getSnapshot().context;
    };
    return { ...story, rebuilt };
  }

  test.each([
    ['a container of it broke', undefined],
    ['a container of it broke', admittedBefore],
    ['its own actor threw', undefined],
    ['its own actor threw', admittedBefore],
  ] as const)('has the last admitted resources, not those wanted or admitted earlier, after %s', (why, before) => {
    const story = resizedNode(before);
    story.want([sized('100')]);
    breakings[why](story);
    const pod = story.rebuilt();
    expect(pod).toMatchObject({
      allocated: sized('2'),
      desired: sized('100'),
      updateRefusal: { reason: 'Deferred' },
    });
    expect(story.ports.asked('resizePod')).toHaveLength(1);
  });

  test('continues with the resize of its container', () => {
    const story = resizedNode();
    story.ports.hold('resizePod');
    story.want([sized('3')]);
    story.podRef('web-uid')?.send(breaking('container/main'));
    expect(story.rebuilt()?.sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
    story.ports.answer('resizePod');
    expect(story.podRef('web-uid')?.getSnapshot().context).toMatchObject({
      sizes: { main: { cpuLimit: 3_000 } },
      appliedPod: sized('3'),
    });
  });

  test('has the last admitted resources when it terminates with the node', () => {
    const story = resizedNode();
    story.want([sized('100')]);
    story.list(story.world.observed(sized('2')));
    story.ports.hold('stopContainer');
    story.drain();
    story.podRef('web-uid')?.send(breaking('container/main'));
    story.tick();
    expect(story.podRef('web-uid')?.getSnapshot().context.allocated).toEqual(sized('2'));
  });

  test('holds no resources that were not granted before its admission', () => {
    const story = nodeStory();
    story.list();
    story.want([namedPod('web', {}, 'first'), sized('1')]);
    expect(story.pod('web-uid')).toBe('admitting');
    story.send(breaking('pod/web-uid') as never);
    story.tick();
    expect(story.pod('web-uid')).toBe('admitting');
    expect(story.context().allocations).toEqual({});
  });
});
