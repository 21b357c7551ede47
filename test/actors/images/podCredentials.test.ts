import { expect, test } from '@jest/globals';
import { podCredentials } from '../../../actors/images/podCredentials.ts';
import type { CredentialQuery } from '../../../actors/services/images/nodeCredentials.ts';
import { ObjectNotFound, type PodObjects, type PodTokens } from '../../../kubernetes/objects/podObjects.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { dockerSecret } from './dockerSecret.ts';

const { signal } = new AbortController();
const pod = aPod({ imagePullSecrets: [{ name: 'one' }, { name: 'away' }, { name: 'none' }, { name: 'two' }] });

const objects: PodObjects = {
  get: async (_, kind, name) => {
    if (name === 'none') throw new ObjectNotFound(kind, name);
    if (name === 'away') throw new Error('the API server is away');
    return dockerSecret(name, { 'r.example': name, [`r.example/${name}`]: `${name} of the team` });
  },
};

test('C16: the pull Secrets of a pod are tried before the credentials of the node, those with longer paths first', async () => {
  const queries: CredentialQuery[] = [];
  const findCredentials = async (query: CredentialQuery) => {
    queries.push(query);
    return [{ username: 'node', password: 'x' }];
  };
  const tokens: PodTokens = { get: () => Promise.reject(new Error('nobody asks')) };
  const credentials = podCredentials({ findCredentials, objects, tokens });
  const found = await credentials.findCredentials(pod, 'r.example/two/app', { signal });
  expect(found.map(({ username }) => username)).toEqual(['two of the team', 'one', 'two', 'node']);
  expect(queries).toEqual([{ repository: 'r.example/two/app', pod, signal, tokens }]);
});

test('missing and currently unavailable pull Secrets are listed by name', async () => {
  const credentials = podCredentials({ findCredentials: async () => [], objects });
  expect(await credentials.findMissingSecrets(pod, { signal })).toEqual(['away', 'none']);
  expect(await credentials.findMissingSecrets(aPod(), { signal })).toEqual([]);
});

test('without an object source the pull Secrets of a pod are ignored', async () => {
  const credentials = podCredentials({ findCredentials: async () => [] });
  expect(await credentials.findMissingSecrets(pod, { signal })).toEqual([]);
  expect(await credentials.findCredentials(pod, 'r.example/app', { signal })).toEqual([]);
});

test('an aborted lookup does not wait for a Secret', async () => {
  const ending = new AbortController();
  const hanging: PodObjects = {
    get: (_pod, _kind, _name, options) =>
      new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(options.signal.reason))),
  };
  const found = podCredentials({ findCredentials: async () => [], objects: hanging }).findCredentials(
    pod,
    'a/b',
    ending,
  );
  ending.abort();
  await expect(found).rejects.toMatchObject({ name: 'AbortError' });
});
