import { expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

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
    type: 'config.podsChanged',
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
