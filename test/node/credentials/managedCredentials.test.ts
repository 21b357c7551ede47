import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { ManagedCredentials } from '../../../node/credentials/managedCredentials.ts';

function createCredentials({
  hasInitialCertificate = false,
  token,
}: {
  hasInitialCertificate?: boolean;
  token?: string;
} = {}) {
  const contexts = { managed: createSecureContext(), initial: createSecureContext() };
  const refusals: string[] = [];
  const source = (name: 'managed' | 'initial') => ({
    context: async () => contexts[name],
    token: async () => token,
    handleUnauthorized: () => void refusals.push(name),
  });
  const files = { exists: false };
  const credentials = new ManagedCredentials({
    managedSource: source('managed'),
    initialSource: source('initial'),
    hasInitialCertificate,
    managedCertificateExists: async () => files.exists,
  });
  return { contexts, refusals, files, credentials };
}

test('no request is sent before there is a certificate', async () => {
  const { contexts, refusals, files, credentials } = createCredentials();
  await expect(credentials.context()).rejects.toThrow('the node has no client certificate yet');
  files.exists = true;
  expect(await credentials.context()).toBe(contexts.managed);
  credentials.handleUnauthorized();
  expect(refusals).toEqual(['initial', 'managed']);
});

test.each([{ hasInitialCertificate: true }, { token: 'secret' }])(
  'the initial credentials %p are used until there is a managed certificate',
  async (given) => {
    const { contexts, refusals, files, credentials } = createCredentials(given);
    expect(await credentials.context()).toBe(contexts.initial);
    credentials.handleUnauthorized();
    expect(refusals).toEqual(['initial']);
    files.exists = true;
    expect(await credentials.context()).toBe(contexts.managed);
    expect(await credentials.token()).toBe(given.token);
  },
);
