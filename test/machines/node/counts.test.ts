/** Tests the numbers of actors, pods and runtime objects that a node reports. */
import { expect, test } from '@jest/globals';
import { simulatedNode } from '../../fakes/node.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';

test('actors are counted by top-level state, pods by lifecycle, and objects of the runtime in total', async () => {
  const annotations = { 'kubernetes.io/config.source': 'file' };
  const node = await simulatedNode({
    pods: [
      podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }] }),
      podWith('static', {}, { annotations }),
      podRunning('job', 'exit 0', { restartPolicy: 'Never' }),
      podRunning('slow', "trap '' TERM; sleep 1000", { terminationGracePeriodSeconds: 30 }),
    ],
  });
  await node.advance('12s');
  node.remove('slow');
  await node.advance('11s');
  const { actors, pods, ...rest } = node.agent.counts();
  expect(actors.get('pod')?.get('active')).toBe(2);
  expect(actors.get('container')?.get('running')).toBe(2);
  expect(actors.get('volume')).toEqual(new Map([['mounted', 1]]));
  expect(actors.get('nodeAgent')).toEqual(new Map([['running', 1]]));
  const of = (name: string) => pods.find(({ uid }) => uid === `${name}-uid`);
  expect(of('web')).toMatchObject({
    isStatic: false,
    lifecycle: 'sync',
    isDesired: true,
    volumes: new Map([['scratch', true]]),
  });
  expect(of('static')).toMatchObject({ isStatic: true, lifecycle: 'sync' });
  expect(of('job')).toMatchObject({ lifecycle: 'terminated', isDesired: true });
  expect(of('slow')).toMatchObject({ lifecycle: 'terminating', isDesired: false });
  expect(rest).toMatchObject({ runningPods: 3, mirrors: 0, certificates: new Map() });
  expect(rest.containers).toEqual(
    new Map([
      ['running', 3],
      ['exited', 1],
    ]),
  );
});
