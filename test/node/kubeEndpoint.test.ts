import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { kubeEndpoint } from '../../node/kubeEndpoint.ts';

const credentials = { context: async () => createSecureContext(), token: async () => undefined, refused: () => {} };

test('an address is an origin and what stands before every path', () => {
  const cluster = { server: 'https://192.0.2.1:6443/prefix/', 'tls-server-name': 'api.example' };
  expect(kubeEndpoint({ cluster }, credentials)).toEqual({
    ...{ origin: 'https://192.0.2.1:6443', basePath: '/prefix', serverName: 'api.example', isInsecure: false },
    credentials,
  });
  const insecure = { server: 'https://[::1]', 'insecure-skip-tls-verify': true };
  expect(kubeEndpoint({ cluster: insecure }, credentials)).toEqual({
    ...{ origin: 'https://[::1]', basePath: '', isInsecure: true, credentials },
  });
});
