import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { kubeEndpoint } from '../../../node/cluster/kubeEndpoint.ts';

const credentials = {
  context: async () => createSecureContext(),
  token: async () => undefined,
  handleUnauthorized: () => {},
};

test('a server address consists of an origin and a base path', () => {
  const cluster = { server: 'https://192.0.2.1:6443/prefix/', 'tls-server-name': 'api.example' };
  expect(kubeEndpoint({ cluster, user: {} }, credentials, {})).toEqual({
    origin: 'https://192.0.2.1:6443',
    basePath: '/prefix',
    serverName: 'api.example',
    isInsecure: false,
    credentials,
  });
  const insecure = { server: 'https://[::1]', 'insecure-skip-tls-verify': true };
  expect(kubeEndpoint({ cluster: insecure, user: {} }, credentials, {})).toEqual({
    origin: 'https://[::1]',
    basePath: '',
    isInsecure: true,
    credentials,
  });
});

test('the proxy of the cluster takes precedence over the proxy of the environment', () => {
  const cluster = { server: 'https://192.0.2.1:6443' };
  const environment = { HTTPS_PROXY: 'http://far:3128' };
  const proxyOf = (more: object) =>
    kubeEndpoint({ cluster: { ...cluster, ...more }, user: {} }, credentials, environment).proxy?.href;
  expect(proxyOf({ 'proxy-url': 'socks5://near:1080' })).toBe('socks5://near:1080');
  expect([proxyOf({}), proxyOf({ 'proxy-url': '' })]).toEqual(['http://far:3128/', 'http://far:3128/']);
});

test('each request contains the impersonated user or the basic credentials', () => {
  const cluster = { server: 'https://192.0.2.1' };
  const headersOf = (user: Parameters<typeof kubeEndpoint>[0]['user']) =>
    kubeEndpoint({ cluster, user }, credentials, {}).headers;
  const forAnother = {
    as: 'system:node:n1',
    'as-uid': '7',
    'as-groups': ['system:nodes', 'others'],
    'as-user-extra': { 'Example.org/Scopes': ['a', 'b'] },
  };
  expect(headersOf(forAnother)).toEqual({
    'impersonate-user': 'system:node:n1',
    'impersonate-uid': '7',
    'impersonate-group': ['system:nodes', 'others'],
    'impersonate-extra-example.org%2Fscopes': ['a', 'b'],
  });
  expect(headersOf({ username: 'ann', password: 'secret' })).toEqual({ authorization: 'Basic YW5uOnNlY3JldA==' });
  expect(headersOf({ as: '', token: 'a' })).toBeUndefined();
});
