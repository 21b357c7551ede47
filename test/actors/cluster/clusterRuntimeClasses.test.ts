import { expect, test } from '@jest/globals';
import { watching } from '../../fakes/watching.ts';

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';

test('a class is known by its name once the API server has it, and until it has it no more', async () => {
  const { clock, ask, classes, stop } = watching();
  expect(classes.handlerOf('gvisor')).toBeUndefined();
  await ask('POST', CLASSES, { metadata: { name: 'gvisor' }, handler: 'runsc' });
  await clock.advance(0);
  expect([classes.handlerOf('gvisor'), classes.handlerOf('kata')]).toEqual(['runsc', undefined]);
  await ask('DELETE', `${CLASSES}/gvisor`);
  await clock.advance(0);
  expect(classes.handlerOf('gvisor')).toBeUndefined();
  await stop();
});
