import { expect, test } from '@jest/globals';
import { createServiceAccountReader } from '../../../actors/cluster/serviceAccountReader.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { watching } from '../../fakes/watching.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const options = { signal: new AbortController().signal };

test('a service account is read fresh with its annotations; a missing one, or one that no pod of the node uses, is an error', async () => {
  const { clock, ask, transport, stop } = watching();
  const find = createServiceAccountReader(new KubeClient({ transport, clock, userAgent: 'test' }));
  const puller = { namespace: 'default', name: 'puller' };
  await expect(find(puller, options)).rejects.toThrow('no relationship found between node');
  await ask('POST', ACCOUNTS, { metadata: { name: 'puller' } });
  const spec = { nodeName: 'node-1', serviceAccountName: 'puller', containers: [{ name: 'main', image: 'app' }] };
  await ask('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec });
  const { uid, annotations } = await find(puller, options);
  expect([uid, annotations]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), {}]);
  await ask('DELETE', `${ACCOUNTS}/puller`);
  await expect(find(puller, options)).rejects.toThrow('serviceaccounts "puller" not found');
  await ask('POST', ACCOUNTS, { metadata: { name: 'puller', annotations: { constructor: 'x' } } });
  const again = await find(puller, options);
  expect([again.uid === uid, again.annotations]).toEqual([false, { constructor: 'x' }]);
  await stop();
});
