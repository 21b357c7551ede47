import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createEventRecorder } from '../../../../actors/events/eventRecorder.ts';
import { shutdownServices } from '../../../../actors/services/shutdown/shutdownServices.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { Logind } from '../../../../host/logind/logind.ts';
import { SimulatedLogind } from '../../../../host/simulated/simulatedLogind.ts';
import { simulatedNode } from '../../../fakes/node.ts';
import { podWith } from '../../../fakes/pods.ts';

const SECOND = 1_000;
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';
const CRITICAL = 2_000_000_000;
const shutdown = {
  periods: [
    { priority: 0, graceSeconds: 20 },
    { priority: CRITICAL, graceSeconds: 10 },
  ],
};

/** Starts a node with an ordinary and a critical pod, on a host with logind. */
async function node() {
  const logind = new SimulatedLogind();
  let now = () => 0;
  const events = createEventRecorder('node-1', () => now());
  const started = await simulatedNode({
    config: { shutdown },
    pods: [podWith('web'), podWith('critical', { priority: CRITICAL })],
    parts: { logind: logind.open(), events: events.record },
  });
  now = () => started.clock.now();
  await started.advance('10s');
  return { node: started, logind, messages: () => events.events().map(({ message }) => message) };
}

const explained = (started: Awaited<ReturnType<typeof simulatedNode>>) =>
  started.agent.explainNode().node.children.find(({ name }) => name === 'shutdown');

describe('C49: a node on a host that shuts down', () => {
  test('terminates its pods, is not ready, and delays the shutdown until then', async () => {
    const { node: started, logind, messages } = await node();
    expect(logind.isDelayed).toBe(true);
    expect(explained(started)?.facts).toContain('logind delays a shutdown by up to 30s of 30s');
    logind.announce(true);
    await started.advance('1s');
    expect(started.agent.health().isDraining).toBe(true);
    expect(messages()).toContain('Shutdown manager detected shutdown event');
    await started.advance('40s');
    for (const name of ['web', 'critical']) {
      expect(started.pod(name)).toMatchObject({ phase: 'Failed', reason: 'Terminated', message: MESSAGE });
      expect(started.pod(name).conditions).toContainEqual(
        expect.objectContaining({
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'TerminationByKubelet',
          message: MESSAGE,
        }),
      );
    }
    expect(logind.isDelayed).toBe(false);
    expect(explained(started)?.waitingFor).toBe('the host to shut down');
    expect(started.agent.explainUid('web-uid')?.answer).toContain(MESSAGE);
    const file = started.path('root/graceful_node_shutdown_state');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      startTime: expect.stringMatching(/Z$/),
      endTime: expect.not.stringMatching(/^0001/),
    });
  });

  test('rejects new pods until the shutdown is cancelled', async () => {
    const { node: started, logind, messages } = await node();
    logind.announce(true);
    await started.advance('40s');
    started.apply(podWith('late'));
    await started.advance('5s');
    expect(started.pod('late')).toMatchObject({
      phase: 'Failed',
      reason: 'NodeShutdown',
      message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
    });
    logind.announce(false);
    await started.advance('5s');
    expect(messages()).toContain('Shutdown manager detected shutdown cancellation');
    expect(started.agent.health().isDraining).toBe(false);
    expect(logind.isDelayed).toBe(true);
    started.apply(podWith('later'));
    await started.advance('15s');
    expect(started.pod('later').phase).toBe('Running');
  });

  test('starts static pods again after the next boot, but no pods of an API server', async () => {
    const logind = new SimulatedLogind();
    const podFrom = (source: string, name: string) => {
      const pod = podWith(name);
      return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': source } } };
    };
    const started = await simulatedNode({
      config: { shutdown },
      pods: [podFrom('file', 'static'), podFrom('api', 'web')],
      parts: { logind: logind.open() },
    });
    await started.advance('15s');
    logind.announce(true);
    await started.advance('40s');
    expect([started.pod('static').reason, started.pod('web').reason]).toEqual(['Terminated', 'Terminated']);
    logind.boot();
    await started.restartAgent();
    await started.advance('20s');
    expect(started.pod('static').phase).toBe('Running');
    expect(started.pod('web')).toMatchObject({ phase: 'Failed', reason: 'Terminated' });
  });

  test('runs its pods on a host without logind, and says why a shutdown is not delayed', async () => {
    const logind = new SimulatedLogind();
    logind.stop();
    const started = await simulatedNode({
      config: { shutdown },
      pods: [podWith('web')],
      parts: { logind: logind.open() },
    });
    await started.advance('15s');
    expect(started.pod('web').phase).toBe('Running');
    expect(explained(started)?.lastFailure?.message).toBe(
      'Failed to start node shutdown manager: The name org.freedesktop.login1 was not provided by any .service files',
    );
    expect(started.errors.splice(0)).toEqual([
      `readInhibitDelay: NodeFailure: ${explained(started)?.lastFailure?.message}`,
    ]);
  });
});

describe('C49: the ports of the shutdown', () => {
  const { signal } = new AbortController();
  const services = (logind: Partial<Logind> | undefined, save = async () => {}) => {
    const clock = new SimulatedClock();
    // The ports make only the given calls.
    const ports = shutdownServices({ logind: logind as Logind | undefined, shutdownState: { save }, clock });
    return { clock, ports };
  };
  const input = { requiredMs: 30 * SECOND, attempt: 5, maxAttempts: 5 };

  test('fail with the message of a kubelet if the delay stays too short', async () => {
    const { ports } = services({ readInhibitDelay: async () => 5 * SECOND });
    expect(await ports.readInhibitDelay({ ...input, attempt: 4 }, { signal })).toEqual({ delayMs: 5 * SECOND });
    await expect(ports.readInhibitDelay(input, { signal })).rejects.toThrow(
      'node shutdown manager was timed out after 5 attempts waiting for logind InhibitDelayMaxSec to update to 30s (ShutdownGracePeriod), current value is 5s',
    );
  });

  test('time out if logind does not respond, or if the disk hangs', async () => {
    const hangs = () => new Promise<never>(() => {});
    const { ports, clock } = services({ readInhibitDelay: hangs }, hangs);
    const [read, save] = [
      ports.readInhibitDelay(input, { signal }),
      ports.saveShutdown({ startedAt: 0, isComplete: false }, { signal }),
    ];
    const ends = Promise.allSettled([read, save]);
    await clock.advance(75 * SECOND);
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('fail without access to logind', async () => {
    const { ports } = services(undefined);
    await expect(ports.readInhibitDelay(input, { signal })).rejects.toMatchObject({ reason: 'LogindFailed' });
  });
});
