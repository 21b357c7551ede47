import { expect, test } from '@jest/globals';
import { boundPod, joinedNode, PODS } from '../fakes/joinedNode.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

const message = 'Pod was active on the node longer than the specified deadline';

test('a pod that exceeds activeDeadlineSeconds is Failed as DeadlineExceeded, and an agent restart neither delays nor reverts that', async () => {
  const node = await simulatedNode({ pods: [podWith('web', { activeDeadlineSeconds: 60 })] });
  await node.advance('40s');
  await node.restartAgent();
  await node.advance('19s');
  expect(node.pod('web').phase).toBe('Running');
  await node.advance('5s');
  expect(node.pod('web')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message });
  expect(node.agent.pods()[0]?.metadata.deletionTimestamp).toBeUndefined();
  await node.restartAgent();
  await node.advance('2m');
  expect(node.pod('web')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message });
  expect(node.calls('startContainer')).toHaveLength(1);
  node.remove('web');
  await node.advance('5s');
  expect(await node.leftovers()).toEqual([]);
});

test('C15: a pod that exits with 0 when its activeDeadlineSeconds is exceeded is Failed, and becomes unready at once', async () => {
  const slow = containerWith('main', { command: ['sh', '-c', 'trap "sleep 5; exit 0" TERM; sleep 1d'] });
  const node = await simulatedNode({ pods: [podWith('web', { containers: [slow], activeDeadlineSeconds: 60 })] });
  const ready = () => node.pod('web').conditions?.find(({ type }) => type === 'Ready');
  await node.advance('59s');
  expect(ready()).toMatchObject({ status: 'True' });
  await node.advance('2s');
  expect(ready()).toMatchObject({ status: 'False', reason: 'PodFailed' });
  await node.advance('1m');
  expect(node.pod('web')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  expect(node.container('web').state?.terminated).toMatchObject({ exitCode: 0 });
  expect(ready()).toMatchObject({ reason: 'PodFailed' });
});

test('C2: a deleted pod whose activeDeadlineSeconds expires before it has stopped is Failed for that reason', async () => {
  const { ask, node } = await joinedNode();
  const main = {
    name: 'main',
    image: IMAGE,
    command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'],
    lifecycle: { preStop: { sleep: { seconds: 15 } } },
  };
  const { metadata, spec } = boundPod('web', { activeDeadlineSeconds: 30, containers: [main] });
  await ask('POST', PODS, { metadata: { ...metadata, finalizers: ['example.com/hold'] }, spec });
  await node.advance('20s');
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 60 });
  await node.advance('11s');
  expect((await ask('GET', `${PODS}/web`)).status).toMatchObject({ phase: 'Running' });
  await node.advance('30s');
  expect((await ask('GET', `${PODS}/web`)).status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message,
    containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
  });
  expect(node.errors).toEqual([]);
});

test('C2: activeDeadlineSeconds that is set while a pod terminates applies to the pod', async () => {
  const { ask, node } = await joinedNode();
  const lifecycle = { preStop: { sleep: { seconds: 30 } } };
  const main = { name: 'main', image: IMAGE, command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'], lifecycle };
  const { metadata, spec } = boundPod('web', { containers: [main] });
  await ask('POST', PODS, { metadata: { ...metadata, finalizers: ['example.com/hold'] }, spec });
  await node.advance('20s');
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 60 });
  await node.advance('5s');
  const terminating = await ask('GET', `${PODS}/web`);
  await ask('PUT', `${PODS}/web`, {
    ...terminating,
    spec: Object.assign({}, terminating.spec, { activeDeadlineSeconds: 30 }),
  });
  await node.advance('50s');
  expect((await ask('GET', `${PODS}/web`)).status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message,
  });
});

test('activeDeadlineSeconds of an API server pod counts from its startTime, even if the runtime loses its containers', async () => {
  const { ask, node } = await joinedNode();
  await ask('POST', PODS, boundPod('web', { activeDeadlineSeconds: 60 }));
  await node.advance('40s');
  node.killAgent();
  node.runtime.restart({ keepContainers: false, forget: () => true });
  await node.startAgent();
  await node.advance('15s');
  expect(node.pod('web').phase).toBe('Running');
  await node.advance('10s');
  expect((await ask('GET', `${PODS}/web`)).status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message,
  });
});
