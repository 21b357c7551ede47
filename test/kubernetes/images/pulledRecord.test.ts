import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Credential } from '../../../kubernetes/images/keyring.ts';
import {
  credentialHash,
  findProof,
  formatIntent,
  formatRecord,
  type PullCredentials,
  pullCredentialsOf,
  readIntent,
  readRecord,
  recordFileName,
  withPullCredentials,
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

describe("records of image pulls in the kubelet's format", () => {
  test("have the kubelet's file names", () => {
    expect(recordFileName('busybox')).toBe(`sha256-${sha256('busybox')}`);
  });

  test('contain the intent of a pull', () => {
    const text = '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"r.example/app:1"}\n';
    expect(formatIntent('r.example/app:1')).toBe(text);
    expect(readIntent(text)).toBe('r.example/app:1');
    expect(readIntent(text.replace('v1beta1', 'v1alpha1'))).toBe('r.example/app:1');
    for (const none of ['', '{}', text.replace('Intent', 'Record'), text.replace('}', ',"more":1}')]) {
      expect(readIntent(none)).toBeUndefined();
    }
  });

  test('contain the credentials of a pull', () => {
    const record = {
      imageRef: 'sha256:1',
      credentialsByImage: {
        'r.example/app': pullCredentialsOf(ofSecret('pull')),
        busybox: pullCredentialsOf(undefined),
        'r.example/account': pullCredentialsOf(ofAccount('default')),
      },
    };
    const hash = sha256('{"username":"me","password":"hunter2"}');
    const text = `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2026-11-22T09:41:56Z","imageRef":"sha256:1","credentialMapping":{"busybox":{"nodePodsAccessible":true},"r.example/account":{"kubernetesServiceAccounts":[{"uid":"uid-default","namespace":"shop","name":"default"}]},"r.example/app":{"kubernetesSecrets":[{"uid":"uid-pull","namespace":"shop","name":"pull","credentialHash":"${hash}"}]}}}\n`;
    expect(formatRecord(record, Date.parse('2026-11-22T09:41:56.789Z'))).toBe(text);
    expect(readRecord(text)).toEqual(record);
    const bare = formatRecord({ imageRef: 'sha256:1', credentialsByImage: {} }, 0);
    expect(bare).not.toContain('credentialMapping');
    expect(readRecord(bare)).toEqual({ imageRef: 'sha256:1', credentialsByImage: {} });
  });

  test('are ignored if they have unknown fields, which could be restrictions', () => {
    const text = formatRecord({ imageRef: 'sha256:1', credentialsByImage: { a: { nodePodsAccessible: true } } }, 0);
    expect(readRecord(text.replace('"nodePodsAccessible":true', '"onlyOnSundays":true'))).toBeUndefined();
    expect(readRecord(text.slice(0, -5))).toBeUndefined();
  });

  test("hash a credential as JSON in Go's format", () => {
    expect(credentialHash({ username: 'a', password: '<b>&\u2028"é', email: 'c@d' })).toBe(
      sha256('{"username":"a","password":"\\u003cb\\u003e\\u0026\\u2028\\"é","email":"c@d"}'),
    );
    expect(credentialHash({ username: 'a', password: '' })).toBe(sha256('{"username":"a"}'));
  });
});

const MAX_SECRETS = 100;
const full: PullCredentials = {
  kubernetesSecrets: Array.from({ length: MAX_SECRETS }, (_, index) =>
    pullCredentialsOf(ofSecret(`s${index}`)),
  ).flatMap(({ kubernetesSecrets = [] }) => kubernetesSecrets),
};

describe('the proof of access to an image', () => {
  const known: PullCredentials = { ...pullCredentialsOf(ofSecret('pull')), ...pullCredentialsOf(ofAccount('puller')) };

  test('is the same Secret with the same credential, which adds nothing to the record', () => {
    expect(findProof(known, [ofSecret('other', 'x'), ofSecret('pull')])).toEqual({ learned: undefined });
  });

  test('is the same credential in another Secret, or a changed one in the same Secret, which is added to the record', () => {
    expect(findProof(known, [ofSecret('copy')])).toEqual({ learned: pullCredentialsOf(ofSecret('copy')) });
    expect(findProof(known, [ofSecret('pull', 'new')])).toEqual({
      learned: pullCredentialsOf(ofSecret('pull', 'new')),
    });
  });

  test('is the same service account', () => {
    expect(findProof(known, [ofAccount('puller')])).toEqual({ learned: undefined });
    expect(findProof(known, [ofAccount('other')])).toBeUndefined();
  });

  test('is not another Secret or a credential of the node', () => {
    const own = { username: 'me', password: 'hunter2' };
    for (const pods of [[], [ofSecret('other', 'x')], [own]]) expect(findProof(known, pods)).toBeUndefined();
  });

  test('is the same credential, which is not added to a record with 100 Secrets', () => {
    expect(findProof(full, [ofSecret('copy')])).toEqual({ learned: undefined });
  });

  test('is not a changed credential of a Secret in a record with 100 Secrets, which requires a pull', () => {
    expect(findProof(full, [ofSecret('s0', 'new')])).toBeUndefined();
    expect(findProof(full, [ofSecret('s0', 'new'), ofSecret('s1')])).toEqual({ learned: undefined });
  });
});

describe('a record after several pulls', () => {
  const before = { imageRef: 'sha256:1', credentialsByImage: {} };
  const pulledBy = (...pulls: readonly (Credential | undefined)[]) =>
    pulls.reduce(
      (known, credential) => withPullCredentials(known, 'app', pullCredentialsOf(credential)),
      before as Parameters<typeof withPullCredentials>[0],
    );

  test('contains each Secret once, sorted, with its last credential', () => {
    const { kubernetesSecrets = [] } =
      pulledBy(ofSecret('b'), ofSecret('a'), ofSecret('b', 'new')).credentialsByImage.app ?? {};
    expect(kubernetesSecrets.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(kubernetesSecrets[1]?.credentialHash).toBe(credentialHash(ofSecret('b', 'new')));
  });

  test('contains at most 100 Secrets, including that of the last pull', () => {
    const record = { imageRef: 'sha256:1', credentialsByImage: { app: full } };
    const { kubernetesSecrets = [] } =
      withPullCredentials(record, 'app', pullCredentialsOf(ofSecret('new'))).credentialsByImage.app ?? {};
    expect(kubernetesSecrets).toHaveLength(MAX_SECRETS);
    expect(kubernetesSecrets.map(({ name }) => name)).toContain('new');
  });

  test('contains Secrets and service accounts', () => {
    expect(Object.keys(pulledBy(ofAccount('x'), ofSecret('a')).credentialsByImage.app ?? {})).toEqual([
      'kubernetesSecrets',
      'kubernetesServiceAccounts',
    ]);
  });

  test('grants access to all pods permanently after a pull without credentials', () => {
    expect(pulledBy(ofSecret('a'), undefined, ofSecret('b')).credentialsByImage).toEqual({
      app: { nodePodsAccessible: true },
    });
  });

  test('is unchanged if the pull adds nothing', () => {
    const known = pulledBy(ofSecret('a'));
    expect(withPullCredentials(known, 'app', pullCredentialsOf(ofSecret('a')))).toBe(known);
  });

  test('handles an image with the name of an object property', () => {
    expect(
      Object.keys(withPullCredentials(before, 'constructor', pullCredentialsOf(undefined)).credentialsByImage),
    ).toEqual(['constructor']);
  });
});
