import { expect, test } from '@jest/globals';
import { clusterAccess } from '../../../node/cluster/clusterAccess.ts';
import type { Kubeconfig } from '../../../node/config/files/kubeconfig.ts';

const access = (user: Kubeconfig['user']) =>
  clusterAccess('/etc/kubeconfig', {
    cluster: { server: 'https://192.0.2.1:6443' },
    user,
    names: { context: 'prod', user: 'node' },
  });

test.each<[string, Kubeconfig['user']]>([
  ['client certificate', { 'client-certificate': '/pki/node.crt', 'client-key': '/pki/node.key' }],
  ['client certificate', { 'client-certificate-data': 'PEM', 'client-key-data': 'SECRET' }],
  ['token', { token: 'SECRET' }],
  ['token of a file', { tokenFile: '/run/token', token: 'SECRET' }],
  ['client certificate and token', { 'client-certificate-data': 'PEM', 'client-key-data': 'SECRET', token: 'SECRET' }],
  ['no credentials', { token: '', 'client-certificate': '' }],
])('cluster access (%s) is shown without any secret', (means, user) => {
  expect(access(user)).toEqual({
    server: 'https://192.0.2.1:6443',
    kubeconfig: '/etc/kubeconfig',
    context: 'prod',
    user: 'node',
    credentialKind: means,
  });
});
