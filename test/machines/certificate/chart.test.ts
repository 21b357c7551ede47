import { expect, test } from '@jest/globals';
import type { FailureReason } from '../../../base/failure.ts';
import type { CertificateName, PersistedCertificate } from '../../../machines/certificate/certificate.ts';
import { certificateMachine } from '../../../machines/certificate/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorView } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { childOf, ear, START } from '../support/stand.ts';

const MINUTE = 60_000;
const LIFE = 100 * MINUTE;
/** The kubelet's delays between attempts, in milliseconds. */
const WAITS = [2_000, 4_000, 8_000, 16_000, 32_000, 32_000];
const NAMES = { dnsNames: ['node-1'], ips: ['192.0.2.1'] };

/** Creates a certificate actor. The test responds to all of its calls. */
function certificateStory(name: CertificateName = 'client', rotates = true) {
  const ports = new FakePorts(START);
  const { ref } = ear();
  const input = { nodeName: 'node-1', name, rotates };
  const actor = childOf(ref, provideActors(certificateMachine, ports), { id: `certificate/${name}`, input });
  const events: string[] = [];
  actor.on('event.recorded', ({ reason, message }) => void events.push(`${reason}: ${message}`));
  actor.start();
  const made = (over: Partial<PersistedCertificate> = {}): PersistedCertificate => ({
    subject: { commonName: 'system:node:node-1', organizations: ['system:nodes'] },
    notBefore: ports.now,
    notAfter: ports.now + LIFE,
    names: NAMES,
    ...over,
  });
  return {
    ports,
    events,
    made,
    found: (certificate: PersistedCertificate | null, chance = 0) =>
      ports.answer('readCertificate', { certificate, chance }),
    requested: (request = 'csr-1') => ports.answer('requestCertificate', { request, uid: 'uid', at: ports.now }),
    issued: (chance = 0, certificate = made()) =>
      ports.answer('awaitCertificate', { certificate, chance, at: ports.now }),
    failed: (port: 'readCertificate' | 'requestCertificate' | 'awaitCertificate', reason: FailureReason) =>
      ports.fail(port, reason, `${port} failed`),
    named: (names = NAMES) => actor.send({ type: 'certificate.namesChanged', names }),
    state: () => statePath(actor.getSnapshot().value),
    view: () => actorView(actor, () => START),
    asks: () => ports.asked('requestCertificate').length,
  };
}

test('a missing certificate is requested, and the wait for its approval is shown', () => {
  const { ports, found, requested, issued, state, view } = certificateStory();
  expect(state()).toBe('reading');
  found(null);
  expect([state(), view().waitingFor]).toEqual(['requesting', 'a client certificate to be requested']);
  requested('csr-abc');
  expect(state()).toBe('awaitingApproval');
  expect(view()).toMatchObject({
    waitingFor: 'its request csr-abc for a client certificate to be approved',
    until: START + 15 * MINUTE,
    tags: ['waiting'],
  });
  ports.advance(5 * MINUTE);
  issued();
  expect([state(), view().until]).toEqual(['current', START + 5 * MINUTE + 0.7 * LIFE]);
});

test.each([
  [0, 0.7],
  [0.5, 0.8],
  [0.99, 0.898],
])('a certificate is renewed between 70 and 90 % of its lifetime: with chance %p at %p', (chance, part) => {
  const { ports, found, made, state, asks } = certificateStory();
  found(made(), chance);
  ports.advance(part * LIFE - 1);
  expect([state(), asks()]).toEqual(['current', 0]);
  ports.advance(1);
  expect([state(), asks()]).toEqual(['requesting', 1]);
});

test.each<[string, string, string[], boolean]>([
  ['that of this node', 'system:node:node-1', ['system:nodes'], true],
  ['one with a further organization', 'system:node:node-1', ['example', 'system:nodes'], true],
  ['one of a different node', 'system:node:node-2', ['system:nodes'], false],
  ['one without the organization of nodes', 'system:node:node-1', ['system:masters'], false],
])('a certificate is accepted by its common name and organization: %s', (_, commonName, organizations, fits) => {
  for (const name of ['client', 'serving'] as const) {
    const { found, made, named, state } = certificateStory(name);
    if (name === 'serving') named();
    found(made({ subject: { commonName, organizations } }));
    expect(state()).toBe(fits ? 'current' : 'requesting');
  }
});

test('a new certificate is requested if the present one has expired at the start', () => {
  const { ports, found, made, state } = certificateStory();
  found(made({ notBefore: START - LIFE, notAfter: START - 1 }));
  ports.advance(0);
  expect(state()).toBe('requesting');
});

test('a certificate that is due at once is used for a second, as by a kubelet', () => {
  for (const rotates of [true, false]) {
    const { ports, found, requested, issued, made, state } = certificateStory('client', rotates);
    found(null);
    requested();
    issued(0, made({ notBefore: START - LIFE, notAfter: START - 1 }));
    ports.advance(999);
    expect(state()).toBe('current');
    ports.advance(1);
    expect(state()).toBe('requesting');
  }
});

test('a new certificate is requested only after expiry if rotation is off', () => {
  const { ports, found, made, state } = certificateStory('client', false);
  found(made());
  ports.advance(LIFE - 1);
  expect(state()).toBe('current');
  ports.advance(1);
  expect(state()).toBe('requesting');
});

test('the bootstrap request is awaited for up to an hour and resumed; renewals create new requests', () => {
  for (const [rotates, resumes, minutes] of [
    [false, true, 60],
    [true, false, 15],
  ] as const) {
    const { ports, found, requested, view } = certificateStory('client', rotates);
    found(null);
    expect(ports.asked('requestCertificate').at(-1)).toMatchObject({ resumes });
    requested();
    expect(view().until).toBe(START + minutes * MINUTE);
    expect(ports.asked('awaitCertificate').at(-1)).toMatchObject({ limitMs: minutes * MINUTE });
  }
});

test('a failed request is retried with a new one after 2 s, doubling up to 32 s', () => {
  const { ports, found, requested, failed, state, view } = certificateStory();
  found(null);
  for (const wait of WAITS) {
    requested();
    failed('awaitCertificate', 'CertificateNotIssued');
    expect([state(), view().until]).toEqual(['awaitingRetry', ports.now + wait]);
    expect(view().lastFailure?.message).toBe('awaitCertificate failed');
    ports.advance(wait);
    expect(state()).toBe('requesting');
  }
  expect(ports.asked('requestCertificate')).toHaveLength(WAITS.length + 1);
});

test('failure and back-off are reset when a certificate has been issued', () => {
  const { ports, found, requested, issued, failed, state, view } = certificateStory();
  found(null);
  for (const wait of WAITS.slice(0, 3)) {
    failed('requestCertificate', 'InternalError');
    ports.advance(wait);
  }
  requested();
  issued();
  expect([state(), view().lastFailure]).toEqual(['current', undefined]);
  ports.advance(0.7 * LIFE);
  failed('requestCertificate', 'InternalError');
  expect(ports.untilNext).toBe(2_000);
});

test('a denial is recorded once, until something else has happened', () => {
  const { ports, found, requested, failed, events } = certificateStory();
  found(null);
  for (const reason of ['CertificateDenied', 'CertificateDenied', 'CertificateFailed'] as const) {
    requested();
    failed('awaitCertificate', reason);
    ports.advance(32_000);
  }
  expect(events).toEqual(['CertificateDenied: awaitCertificate failed', 'CertificateFailed: awaitCertificate failed']);
});

test('reading the files is retried before a certificate is requested', () => {
  const { ports, failed, state, view, asks } = certificateStory();
  failed('readCertificate', 'CertificateUnusable');
  expect([state(), view().lastFailure?.reason]).toEqual(['awaitingFiles', 'CertificateUnusable']);
  ports.advance(2_000);
  expect([state(), asks()]).toEqual(['reading', 0]);
});

test('a serving certificate is requested once the Node has an address, and covers all addresses', () => {
  const { ports, found, named, state, view } = certificateStory('serving');
  found(null);
  expect([state(), view().waitingFor]).toEqual([
    'awaitingNames',
    'an IP address of its Node, which a serving certificate has to name',
  ]);
  named({ dnsNames: ['node-1'], ips: [] });
  expect(state()).toBe('awaitingNames');
  named();
  expect(ports.asked('requestCertificate')).toEqual([{ name: 'serving', names: NAMES, resumes: false }]);
});

test('a new certificate is requested at once for an added address, but not for a removed one', () => {
  const more = { dnsNames: ['node-1'], ips: ['192.0.2.1', '192.0.2.2'] };
  const { found, made, named, requested, issued, state, asks } = certificateStory('serving');
  named();
  found(made());
  named({ dnsNames: [], ips: ['192.0.2.1'] });
  expect(state()).toBe('current');
  named(more);
  expect(state()).toBe('requesting');
  requested();
  named();
  expect([state(), asks()]).toEqual(['awaitingApproval', 1]);
  named({ ...more, ips: [...more.ips, '192.0.2.3'] });
  expect([state(), asks()]).toEqual(['requesting', 2]);
  requested();
  issued(0, made({ names: more }));
  expect(state()).toBe('current');
});

test('changed names do not shorten the wait for a retry', () => {
  const { ports, found, made, failed, named, state } = certificateStory('serving');
  found(made());
  ports.advance(0.7 * LIFE);
  expect(state()).toBe('awaitingNames');
  named();
  failed('requestCertificate', 'InternalError');
  ports.advance(2_000);
  expect(state()).toBe('requesting');
});
