/**
 * A certificate with a lifetime of minutes during a week of faults, on a simulated clock. It is renewed whenever that
 * is possible.
 */
import { expect, test } from '@jest/globals';
import { createBoundary, type PortServices } from '../../../../actors/boundary.ts';
import { SIGNING_REQUESTS } from '../../../../actors/cluster/certificates/awaitSigned.ts';
import { CertificateManager } from '../../../../actors/cluster/certificates/certificates.ts';
import { noCluster } from '../../../../actors/cluster/node/clusterNode.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { FileFault } from '../../../../host/simulated/faultyCalls.ts';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import { certificateMachine } from '../../../../machines/certificate/chart.ts';
import { provideActors } from '../../../../machines/shared/ports.ts';
import { statePath } from '../../../../machines/shared/stateMeta.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import type { ApiRequest } from '../../../../testing/apiserver/requests/request.ts';
import { MemoryTransport } from '../../../fakes/cluster.ts';
import { childOf, ear } from '../../../machines/support/stand.ts';

const MINUTE = 60_000;
const STEP = 10 * MINUTE;
/**
 * Lifetime of a certificate in milliseconds. With two minutes the test takes four times as long, and tests nothing
 * more.
 */
const LIFE = 8 * MINUTE;
const LEAST_RENEWALS = 1_250;
const STEPS = (7 * 24 * 60 * MINUTE) / STEP;

async function stand() {
  const clock = new SimulatedClock();
  const server = await ApiServer.start(clock);
  server.signing.lifeMs = LIFE;
  const trouble: { file: FileFault | undefined } = { file: undefined };
  const files = new MemoryFiles(new MemoryDisk(() => clock.now()), ({ writes, path }) =>
    writes && path.endsWith('.tmp') ? trouble.file : undefined,
  );
  const expiry = { of: 0 };
  /** A client with an expired certificate is not authenticated, as over TLS. */
  const asNode = {
    respond: ({ user, ...request }: ApiRequest) =>
      server.respond(
        clock.now() < expiry.of && user ? { ...request, user } : { ...request, hasInvalidCertificate: true },
      ),
  };
  const own = new MemoryTransport(asNode, { name: 'system:node:n', groups: ['system:nodes'] });
  const bootstrap = new MemoryTransport(server, { name: 'system:bootstrap:a', groups: ['system:bootstrappers'] });
  const client = (transport: MemoryTransport) => new KubeClient({ transport, clock, userAgent: 'test' });
  let chance = 0;
  const renewals: number[] = [];
  const certificates = new CertificateManager({
    clock,
    files,
    onError: () => {},
    nodeName: 'n',
    directory: '/pki',
    client: client(own),
    bootstrapClient: client(bootstrap),
    jitter: () => {
      chance = (chance + 0.37) % 1;
      return chance;
    },
    onRenewed: () => void renewals.push(clock.now()),
  });
  // The test calls no other ports.
  const ports = { ...noCluster, ...certificates.ports } as PortServices;
  const feeds = {} as Parameters<typeof createBoundary>[0]['feeds'];
  const boundary = createBoundary({ ports, feeds }, { clock, onError: () => {} });
  const input = { nodeName: 'n', name: 'client', rotates: true } as const;
  const { ref } = ear();
  const actor = childOf(ref, provideActors(certificateMachine, boundary), { id: 'certificate/client', input });
  actor.subscribe(({ context }) => {
    expiry.of = context.certificate?.notAfter ?? 0;
  });
  actor.start();
  const away = (isAway: boolean) => {
    for (const each of [own, bootstrap]) {
      each.isAway = isAway;
      if (isAway) each.cut();
    }
  };
  const state = () => statePath(actor.getSnapshot().value);
  return { clock, server, files, trouble, expiry, renewals, away, state };
}

/** The faults, each with the steps of ten minutes in which it occurs. */
const faults: Readonly<Record<string, (step: number) => boolean>> = {
  away: (step) => step % 97 < 3 && step > 10,
  denied: (step) => step >= 300 && step < 306,
  unanswered: (step) => step >= 500 && step < 509,
  full: (step) => step >= 700 && step < 712,
};

test('the node recovers a valid certificate within minutes after hours of faults, and sends no useless request', async () => {
  const { clock, server, files, trouble, expiry, renewals, away, state } = await stand();
  const { lifeMs } = server.signing;
  const unsound: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const wrong = Object.keys(faults).filter((name) => faults[name]?.(step));
    const hadFault = step > 0 && Object.values(faults).some((is) => is(step - 1));
    away(wrong.includes('away'));
    server.signing.decide = () =>
      wrong.includes('denied') ? 'deny' : wrong.includes('unanswered') ? 'wait' : 'approve';
    trouble.file = wrong.includes('full') ? { code: 'ENOSPC' } : undefined;
    // A request that a fault has left pending would have to be approved by hand. Without it the node sends a new one.
    if (hadFault) await server.request('DELETE', SIGNING_REQUESTS);
    await clock.advance(STEP);
    if (wrong.length === 0 && expiry.of <= clock.now()) unsound.push(`${step}: ${state()}`);
    if (wrong.length > 0 && expiry.of > clock.now() + lifeMs) unsound.push(`${step}: too good`);
    if (state() === 'current') await server.request('DELETE', SIGNING_REQUESTS);
  }
  expect(unsound).toEqual([]);
  // Each renewal happens at 70 to 90% of the lifetime of the previous certificate, except during the faults.
  const gaps = renewals.slice(1).map((at, index) => (at - (renewals[index] ?? 0)) / lifeMs);
  expect(Math.min(...gaps)).toBeGreaterThan(0.69);
  expect(gaps.filter((gap) => gap <= 0.91).length).toBeGreaterThan(0.98 * gaps.length);
  expect(renewals.length).toBeGreaterThan(LEAST_RENEWALS);
  expect((await files.readdir('/pki')).length).toBeLessThan(5);
  server.close();
}, 300_000);
