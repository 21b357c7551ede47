import { expect, test } from '@jest/globals';
import { watching } from '../../fakes/watching.ts';

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';

test('a RuntimeClass is available by name exactly as long as the API server has it', async () => {
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
