import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ExecCredentials } from '../../../node/credentials/execCredentials.ts';
import type { ExecCredential } from '../../../node/credentials/runExecPlugin.ts';
import { certificate, key } from '../../actors/services/certificate.ts';

const START = Date.UTC(2026, 0, 1);

function stand() {
  const time = { now: START };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const given: { next: Partial<ExecCredential> | Error; runs: number } = { next: { token: 'a' }, runs: 0 };
  const [problems, renewals]: [string[], number[]] = [[], []];
  const certificates: unknown[] = [];
  const credentials = new ExecCredentials({
    runPlugin: async () => {
      given.runs += 1;
      if (given.next instanceof Error) throw given.next;
      return { token: undefined, certificatePair: undefined, expiresAt: undefined, ...given.next };
    },
    clock,
    onProblem: (problem) => void problems.push(problem),
    onRenewed: () => void renewals.push(time.now),
    observer: { called: () => {}, certificateChanged: (_, certificate) => void certificates.push(certificate) },
  });
  const token = async () => (await credentials.current()).token;
  return { time, given, problems, renewals, certificates, credentials, token };
}

test('a plugin runs once for all callers, until its credentials have expired', async () => {
  const { time, given, credentials, token } = stand();
  given.next = { token: 'a', expiresAt: START + 60_000 };
  await Promise.all([credentials.current(), credentials.current()]);
  time.now += 59_999;
  expect([await token(), given.runs]).toEqual(['a', 1]);
  given.next = { token: 'b' };
  time.now += 1;
  expect([await token(), given.runs]).toEqual(['b', 2]);
  time.now += 10 * 86_400_000;
  expect([await token(), given.runs]).toEqual(['b', 2]);
});

test('credentials that a server rejects are requested again, at most once a second', async () => {
  const { time, given, credentials, token } = stand();
  await token();
  credentials.markRejected();
  expect([await token(), given.runs]).toEqual(['a', 1]);
  time.now += 1_000;
  given.next = { token: 'b' };
  expect([await token(), given.runs]).toEqual(['b', 2]);
});

test('a different certificate reopens connections, but a different token does not', async () => {
  const { time, given, renewals, credentials, token } = stand();
  const another = async (next: Partial<ExecCredential>) => {
    given.next = next;
    credentials.markRejected();
    time.now += 1_000;
    await token();
  };
  await another({ certificatePair: { cert: 'one', key: 'k' } });
  await another({ token: 'new', certificatePair: { cert: 'one', key: 'k' } });
  expect(renewals).toEqual([]);
  await another({ certificatePair: { cert: 'two', key: 'k' } });
  expect(renewals).toHaveLength(1);
});

test('the validity of a new certificate is reported, and so is its removal', async () => {
  const { time, given, certificates, credentials, token } = stand();
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  for (const next of [
    { certificatePair: { cert: certificate, key } },
    { certificatePair: { cert: certificate, key } },
    { token: 'a' },
  ]) {
    given.next = next;
    credentials.markRejected();
    time.now += 1_000;
    await token();
  }
  const validity = { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
  expect(certificates).toEqual([validity, undefined]);
});

test('a plugin that fails at first is reported to the caller; later the previous credentials are used, which is reported once', async () => {
  const { time, given, problems, token } = stand();
  given.next = new Error('exec: failed');
  await expect(token()).rejects.toThrow('exec: failed');
  given.next = { token: 'a', expiresAt: START + 10_000 };
  time.now += 1_000;
  expect(await token()).toBe('a');
  given.next = new Error('exec: failed');
  for (let times = 0; times < 3; times += 1) {
    time.now += 10_000;
    expect(await token()).toBe('a');
  }
  expect(problems).toEqual(['exec: failed; the previous version is used until this is fixed']);
});
