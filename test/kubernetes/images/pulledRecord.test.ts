import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Credential } from '../../../kubernetes/images/keyring.ts';
import {
  credentialHash,
  intentText,
  type PullCredentials,
  provedBy,
  provenBy,
  readIntent,
  readRecord,
  recordFile,
  recordText,
  withProof,
} from '../../../kubernetes/images/pulledRecord.ts';

const ofSecret = (name: string, password = 'hunter2'): Credential => ({
  username: 'me',
  password,
  source: { kind: 'secret', uid: `uid-${name}`, namespace: 'shop', name },
});
const ofAccount = (name: string): Credential => ({
  username: 'me',
  password: 'token',
  source: { kind: 'serviceAccount', uid: `uid-${name}`, namespace: 'shop', name },
});
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe("a node's records of its pulls are those of a kubelet", () => {
  test('by their names', () => {
    expect(recordFile('busybox')).toBe(`sha256-${sha256('busybox')}`);
  });

  test('an intent', () => {
    const text = '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"r.example/app:1"}\n';
    expect(intentText('r.example/app:1')).toBe(text);
    expect(readIntent(text)).toBe('r.example/app:1');
    expect(readIntent(text.replace('v1beta1', 'v1alpha1'))).toBe('r.example/app:1');
    for (const none of ['', '{}', text.replace('Intent', 'Record'), text.replace('}', ',"more":1}')]) {
      expect(readIntent(none)).toBeUndefined();
    }
  });

  test('a record', () => {
    const record = {
      imageRef: 'sha256:1',
      pulledWith: {
        'r.example/app': provedBy(ofSecret('pull')),
        busybox: provedBy(undefined),
        'r.example/account': provedBy(ofAccount('default')),
      },
    };
    const hash = sha256('{"username":"me","password":"hunter2"}');
    const text = `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2026-11-22T09:41:56Z","imageRef":"sha256:1","credentialMapping":{"busybox":{"nodePodsAccessible":true},"r.example/account":{"kubernetesServiceAccounts":[{"uid":"uid-default","namespace":"shop","name":"default"}]},"r.example/app":{"kubernetesSecrets":[{"uid":"uid-pull","namespace":"shop","name":"pull","credentialHash":"${hash}"}]}}}\n`;
    expect(recordText(record, Date.parse('2026-11-22T09:41:56.789Z'))).toBe(text);
    expect(readRecord(text)).toEqual(record);
    const bare = recordText({ imageRef: 'sha256:1', pulledWith: {} }, 0);
    expect(bare).not.toContain('credentialMapping');
    expect(readRecord(bare)).toEqual({ imageRef: 'sha256:1', pulledWith: {} });
  });

  test('what is not known in one could be a condition: it is none', () => {
    const text = recordText({ imageRef: 'sha256:1', pulledWith: { a: { nodePodsAccessible: true } } }, 0);
    expect(readRecord(text.replace('"nodePodsAccessible":true', '"onlyOnSundays":true'))).toBeUndefined();
    expect(readRecord(text.slice(0, -5))).toBeUndefined();
  });

  test('the hash of a credential is that of its JSON as Go writes it', () => {
    expect(credentialHash({ username: 'a', password: '<b>&\u2028"é', email: 'c@d' })).toBe(
      sha256('{"username":"a","password":"\\u003cb\\u003e\\u0026\\u2028\\"é","email":"c@d"}'),
    );
    expect(credentialHash({ username: 'a', password: '' })).toBe(sha256('{"username":"a"}'));
  });
});

const MAX_SECRETS = 100;
const full: PullCredentials = {
  kubernetesSecrets: Array.from({ length: MAX_SECRETS }, (_, index) => provedBy(ofSecret(`s${index}`))).flatMap(
    ({ kubernetesSecrets = [] }) => kubernetesSecrets,
  ),
};

describe('a right to an image is proved', () => {
  const known: PullCredentials = { ...provedBy(ofSecret('pull')), ...provedBy(ofAccount('puller')) };

  test('by the same Secret with the same words, of which there is nothing to learn', () => {
    expect(provenBy(known, [ofSecret('other', 'x'), ofSecret('pull')])).toEqual({ learned: undefined });
  });

  test('by the same words in another Secret, and by other words in the same one: that is learned', () => {
    expect(provenBy(known, [ofSecret('copy')])).toEqual({ learned: provedBy(ofSecret('copy')) });
    expect(provenBy(known, [ofSecret('pull', 'new')])).toEqual({ learned: provedBy(ofSecret('pull', 'new')) });
  });

  test('by the same service account', () => {
    expect(provenBy(known, [ofAccount('puller')])).toEqual({ learned: undefined });
    expect(provenBy(known, [ofAccount('other')])).toBeUndefined();
  });

  test("by no other Secret, and by no credential of the node's own", () => {
    const own = { username: 'me', password: 'hunter2' };
    for (const pods of [[], [ofSecret('other', 'x')], [own]]) expect(provenBy(known, pods)).toBeUndefined();
  });

  test('by the same credential, but a record with 100 Secrets learns no more of them', () => {
    expect(provenBy(full, [ofSecret('copy')])).toEqual({ learned: undefined });
  });

  test('by no changed credential of a Secret that a record with 100 Secrets has: that needs a pull', () => {
    expect(provenBy(full, [ofSecret('s0', 'new')])).toBeUndefined();
    expect(provenBy(full, [ofSecret('s0', 'new'), ofSecret('s1')])).toEqual({ learned: undefined });
  });
});

describe('after a pull is known', () => {
  const before = { imageRef: 'sha256:1', pulledWith: {} };
  const pulledBy = (...pulls: readonly (Credential | undefined)[]) =>
    pulls.reduce(
      (known, credential) => withProof(known, 'app', provedBy(credential)),
      before as Parameters<typeof withProof>[0],
    );

  test('each Secret once, in their order, by what it held last', () => {
    const { kubernetesSecrets = [] } =
      pulledBy(ofSecret('b'), ofSecret('a'), ofSecret('b', 'new')).pulledWith.app ?? {};
    expect(kubernetesSecrets.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(kubernetesSecrets[1]?.credentialHash).toBe(credentialHash(ofSecret('b', 'new')));
  });

  test('at most 100 Secrets, among them those of the last pull', () => {
    const record = { imageRef: 'sha256:1', pulledWith: { app: full } };
    const { kubernetesSecrets = [] } = withProof(record, 'app', provedBy(ofSecret('new'))).pulledWith.app ?? {};
    expect(kubernetesSecrets).toHaveLength(MAX_SECRETS);
    expect(kubernetesSecrets.map(({ name }) => name)).toContain('new');
  });

  test('Secrets beside service accounts', () => {
    expect(Object.keys(pulledBy(ofAccount('x'), ofSecret('a')).pulledWith.app ?? {})).toEqual([
      'kubernetesSecrets',
      'kubernetesServiceAccounts',
    ]);
  });

  test('that all may have it, for ever, where nobody was asked for a credential of a pod', () => {
    expect(pulledBy(ofSecret('a'), undefined, ofSecret('b')).pulledWith).toEqual({ app: { nodePodsAccessible: true } });
  });

  test('nothing new where all of it was known', () => {
    const known = pulledBy(ofSecret('a'));
    expect(withProof(known, 'app', provedBy(ofSecret('a')))).toBe(known);
  });

  test('an image that is called like a property of every object is one like others', () => {
    expect(Object.keys(withProof(before, 'constructor', provedBy(undefined)).pulledWith)).toEqual(['constructor']);
  });
});
