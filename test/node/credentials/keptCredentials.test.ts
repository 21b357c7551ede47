import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { KeptCredentials } from '../../../node/credentials/keptCredentials.ts';

function stand({ hasOwnCertificate = false, token }: { hasOwnCertificate?: boolean; token?: string } = {}) {
  const contexts = { kept: createSecureContext(), own: createSecureContext() };
  const refusals: string[] = [];
  const source = (name: 'kept' | 'own') => ({
    context: async () => contexts[name],
    token: async () => token,
    handleUnauthorized: () => void refusals.push(name),
  });
  const files = { isThere: false };
  const credentials = new KeptCredentials({
    kept: source('kept'),
    own: source('own'),
    hasOwnCertificate,
    isThere: async () => files.isThere,
  });
  return { contexts, refusals, files, credentials };
}

test('nobody is asked before there is a certificate', async () => {
  const { contexts, refusals, files, credentials } = stand();
  await expect(credentials.context()).rejects.toThrow('the node has no client certificate yet');
  files.isThere = true;
  expect(await credentials.context()).toBe(contexts.kept);
  credentials.handleUnauthorized();
  expect(refusals).toEqual(['own', 'kept']);
});

test.each([{ hasOwnCertificate: true }, { token: 'secret' }])(
  'with %p the node asks by that until then',
  async (given) => {
    const { contexts, refusals, files, credentials } = stand(given);
    expect(await credentials.context()).toBe(contexts.own);
    credentials.handleUnauthorized();
    expect(refusals).toEqual(['own']);
    files.isThere = true;
    expect(await credentials.context()).toBe(contexts.kept);
    expect(await credentials.token()).toBe(given.token);
  },
);
