import { expect, test } from '@jest/globals';
import { simulatedNode } from '../../fakes/node.ts';
import { IMAGE, podWith } from '../../fakes/pods.ts';

const inZoo = (name: string) => podWith(name, {}, { namespace: 'zoo', uid: `zoo-${name}` });

test('pods are listed in the order of their namespaces and names, whenever they came', async () => {
  const node = await simulatedNode();
  node.apply(podWith('b'), inZoo('a2'));
  await node.advance('1s');
  node.apply(podWith('a'), podWith('c', {}, { namespace: 'batch' }));
  await node.advance('1s');
  const names = node.agent.pods().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(names).toEqual(['batch/c', 'default/a', 'default/b', 'zoo/a2']);
});

test('pods of one name are explained by their namespace', async () => {
  const node = await simulatedNode();
  node.agent.tell({
    type: 'config.podsListed',
    source: 'file',
    pods: [podWith('web'), inZoo('web')],
    problems: [],
    at: node.clock.now(),
  });
  await node.advance('1s');
  expect(node.agent.explain('web', 'zoo')).toMatchObject({ namespace: 'zoo', uid: 'zoo-web' });
  expect(node.agent.explain('web', 'default')).toMatchObject({ namespace: 'default', uid: 'web-uid' });
  expect(node.agent.explain('web', 'batch')).toBeUndefined();
});

test('of a pod with many containers only the one that has changed is looked at again, and its status told again', async () => {
  const containers = ['a', 'b', 'c'].map((name) => ({ name, image: IMAGE }));
  const volumes = [{ name: 'v', emptyDir: {} }];
  const node = await simulatedNode({ pods: [podWith('web', { containers, volumes })] });
  await node.advance('5s');
  const actors = () => node.agent.trees().get('web-uid')?.children ?? [];
  const [before, was] = [actors(), node.pod('web')];
  node.runtime.exitContainer(node.containerId('web', 'b'), 1);
  await node.advance('5s');
  const [after, is] = [actors(), node.pod('web')];
  expect(is.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 1, 0]);
  const kept = after.map((actor) => [actor.name, before.includes(actor)]);
  expect(Object.fromEntries(kept)).toEqual({ v: true, a: true, b: false, c: true });
  const same = is.containerStatuses?.map((each, index) => each === was.containerStatuses?.[index]);
  expect(same).toEqual([true, false, true]);
});
