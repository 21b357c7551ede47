import { describe, expect, test } from '@jest/globals';
import { aContainer } from '../../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const web = namedPod('web');
const MINUTE = 60_000;

/** Creates a node that runs `web` and lists three dead containers of it. */
function nodeWithDead() {
  const story = nodeStory({ held: ['removeGarbage', 'surveyDisk'] });
  story.list();
  story.want([web]);
  story.ports.answer('surveyDisk', { foreign: [], left: [] });
  for (const attempt of [0, 1, 2]) {
    story.world.run(web, 'main', { id: `dead-${attempt}`, attempt, state: 'exited', exitCode: 1, createdAt: attempt });
  }
  const shown = story.world.observed(web);
  const running = shown.containers.filter(({ state }) => state === 'running');
  const dead = shown.containers.filter(({ state }) => state !== 'running');
  story.list({ ...shown, containers: [...running, ...dead] });
  return story;
}

const removed = ({ ports }: ReturnType<typeof nodeStory>) =>
  ports.asked('removeGarbage').map(({ containers, sandboxes }) => [...containers.map(({ id }) => id), ...sandboxes]);

describe('the garbage collection of a node', () => {
  test('removes all dead containers but one once a minute, and then scans the disk', () => {
    const story = nodeWithDead();
    story.ports.advance(MINUTE - 1);
    expect(removed(story)).toEqual([]);
    story.ports.advance(1);
    expect(removed(story)).toEqual([['dead-1', 'dead-0']]);
    expect(story.ports.asked('surveyDisk')).toHaveLength(1);
    story.ports.answer('removeGarbage', null);
    expect(story.ports.asked('surveyDisk').slice(1)).toEqual([{ activePodUids: ['web-uid'], foreign: [] }]);
    story.ports.answer('surveyDisk', { foreign: [], left: [] });
    story.ports.advance(MINUTE);
    expect(removed(story)).toHaveLength(2);
  });

  test('does not call the runtime if there is nothing to remove', () => {
    const story = nodeStory();
    story.list();
    story.want([web]);
    story.ports.advance(5 * MINUTE);
    expect(removed(story)).toEqual([]);
    expect(story.ports.asked('surveyDisk')).toHaveLength(6);
  });

  test('removes an old sandbox, also without dead containers', () => {
    const story = nodeStory({ held: ['removeGarbage'] });
    story.list();
    story.want([web]);
    const shown = story.world.observed(web);
    const old = shown.sandboxes.map((sandbox) => ({ ...sandbox, id: 'old', state: 'notReady' as const }));
    story.list({ ...shown, sandboxes: [...shown.sandboxes, ...old] });
    story.ports.advance(MINUTE);
    expect(removed(story)).toEqual([['old']]);
  });

  test('removes leftovers of an earlier run of the agent at once', () => {
    const story = nodeStory({ held: ['removeGarbage'] });
    for (const attempt of [0, 1, 2]) story.world.run(web, 'main', { id: `dead-${attempt}`, attempt, state: 'exited' });
    story.world.sandbox(web);
    story.want([web]);
    story.list(story.world.observed(web));
    expect(removed(story)).toEqual([['dead-1', 'dead-0']]);
  });

  test('drops its list after a collection', () => {
    const story = nodeStory({ held: ['removeGarbage', 'surveyDisk'] });
    story.list();
    story.want([web]);
    const kept = () => story.garbage()?.context.garbage;
    expect(kept()).toMatchObject({ activePodUids: ['web-uid'] });
    story.ports.answer('surveyDisk', { foreign: [], left: [] });
    expect(kept()).toEqual({ containers: [], sandboxes: [], activePodUids: [], foreign: [] });
  });

  test('reports a failure, scans the disk nevertheless, and retries after a minute', () => {
    const story = nodeWithDead();
    story.ports.advance(MINUTE);
    story.told();
    story.ports.fail('removeGarbage', 'RuntimeUnavailable', 'the runtime is away');
    expect(story.told()).toEqual(['Warning ContainerGCFailed: the runtime is away']);
    expect(story.own('garbage')?.lastFailure).toMatchObject({ reason: 'RuntimeUnavailable' });
    story.ports.fail('surveyDisk', 'InternalError');
    expect(story.own('garbage')).toMatchObject({
      name: 'garbage',
      state: 'waiting',
      lastFailure: { reason: 'InternalError' },
    });
    story.ports.advance(MINUTE - 1);
    expect([removed(story), story.ports.asked('surveyDisk')].map(({ length }) => length)).toEqual([1, 2]);
    story.ports.advance(1);
    expect(removed(story)).toHaveLength(2);
    expect(story.told()).toEqual([]);
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('removes nothing while the runtime is not available', () => {
    const story = nodeWithDead();
    const away = { since: story.ports.now, ready: false, name: 'fake', version: '1', message: 'away' };
    story.tell({ type: 'runtime.healthChanged', health: away });
    story.ports.advance(MINUTE);
    expect(removed(story)).toEqual([]);
    expect(story.ports.pending()).toEqual(['surveyDisk']);
  });

  test('leaves the objects of a terminating pod to its actor', () => {
    const story = nodeWithDead();
    story.ports.hold('stopContainer');
    story.want([]);
    expect(story.pod('web-uid')).toBe('terminating.stoppingContainers.graceful');
    story.ports.advance(MINUTE);
    expect(removed(story)).toEqual([]);
  });

  test('never touches foreign sandboxes and their containers', () => {
    const story = nodeStory();
    const foreign = namedPod('foreign');
    const { owner: _ours, ...sandbox } = story.world.sandbox(foreign);
    for (const attempt of [0, 1, 2]) {
      story.world.run(foreign, 'main', { id: `theirs-${attempt}`, attempt, state: 'exited' });
    }
    const shown = story.world.observed(foreign);
    const old = { ...sandbox, id: 'old', attempt: 0, state: 'notReady' as const };
    story.list({ ...shown, sandboxes: [{ ...sandbox, attempt: 1 }, old] });
    story.want([]);
    story.ports.advance(3 * MINUTE);
    expect(removed(story)).toEqual([]);
    expect(story.ports.asked('surveyDisk').at(-1)).toEqual({ activePodUids: [], foreign: [] });
  });

  test('does not run before every source has listed its pods', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.want([web]);
    story.ports.advance(3 * MINUTE);
    expect(story.ports.asked('surveyDisk')).toEqual([]);
  });

  test('creates an actor for a pod of which only files are left, which removes them', () => {
    const story = nodeWithDead();
    const lost = { uid: 'lost-uid', namespace: 'default', name: 'lost' };
    story.ports.hold('removePodData');
    story.ports.advance(MINUTE);
    story.ports.answer('removeGarbage', null);
    story.ports.answer('surveyDisk', { foreign: [], left: [lost] });
    expect(story.ports.asked('removePodData')).toMatchObject([{ pod: { metadata: lost } }]);
    story.ports.answer('removePodData', null);
    expect(story.pod('lost-uid')).toBeUndefined();
    expect(story.pod('web-uid')).toBe('active.running.steady');
  });

  test('leaves the files of a pod that arrived during the scan', () => {
    const story = nodeWithDead();
    story.ports.advance(MINUTE);
    story.ports.answer('removeGarbage', null);
    const late = namedPod('late', { containers: [aContainer({ name: 'main' })] });
    story.want([web, late]);
    const { uid, namespace, name } = late.metadata;
    story.ports.answer('surveyDisk', { foreign: [], left: [{ uid, namespace, name }] });
    expect(story.pod('late-uid')).toBe('active.running.steady');
    expect(story.ports.asked('removePodData')).toEqual([]);
    expect(story.context().left).toEqual([]);
  });
});
