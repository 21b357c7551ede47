/** Implements the ports of probes, which run single attempts and pick a random start time. */

import { messageOf } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { MAX_TIMER_MS } from '../../../base/time/duration.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import { probeOf } from '../../../machines/probe/context.ts';
import type { ProbeRun } from '../../../machines/shared/ports.ts';
import type { PortServices } from '../../boundary.ts';
import { findContainer } from '../containers/containers.ts';
import { handlerPort } from '../http/handlerPort.ts';
import { httpTarget } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import { withTimeout } from '../withTimeout.ts';
import type { ProbeAttempt } from './probeAttempt.ts';
import { probeExec } from './probeExec.ts';
import { probeGrpc } from './probeGrpc.ts';
import { probeHttp } from './probeHttp.ts';
import { probeTcp } from './probeTcp.ts';

export interface ProbeDependencies {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly network: Network;
  /** Returns the node's addresses, which are used to reach pods on the host's network. */
  readonly node: () => Pick<NodeDescription, 'hostIps'>;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
}

/** Maximum number of attempts if the probe itself fails, i.e. yields no result. */
const MAX_ATTEMPTS = 3;

export function probeServices(dependencies: ProbeDependencies): Pick<PortServices, 'runProbe' | 'pickTime'> {
  const { clock, jitter } = dependencies;
  return {
    runProbe: async (run, { signal }) => {
      const startedAt = clock.now();
      for (let attempt = 1; ; attempt += 1) {
        try {
          return { ...(await probeOnce(dependencies, run, signal)), startedAt, at: clock.now() };
        } catch (error) {
          if (attempt < MAX_ATTEMPTS && !signal.aborted) continue;
          const message = messageOf(error);
          return { result: 'error', message, startedAt, at: clock.now() };
        }
      }
    },
    pickTime: async ({ withinMs }) => ({ at: clock.now() + Math.floor(jitter() * withinMs) }),
  };
}

async function probeOnce(dependencies: ProbeDependencies, run: ProbeRun, signal: AbortSignal): Promise<ProbeAttempt> {
  const { cri, clock, network, node } = dependencies;
  const { pod, kind, id, podIp } = run;
  const container = findContainer(pod, run.container);
  const { exec, httpGet, tcpSocket, grpc, timeoutSeconds: configuredTimeout } = probeOf(pod, run.container, kind) ?? {};
  const timeoutSeconds = configuredTimeout || 1;
  const timeoutMs = timeoutSeconds * 1_000;
  const address = podIp ?? node().hostIps[0] ?? '127.0.0.1';
  // A command needs no timer here, because the runtime enforces the timeout, counted from the command's start.
  if (exec) return probeExec(cri, { container, id, command: exec.command ?? [] }, { timeoutSeconds, signal });
  const act = async (limited: AbortSignal): Promise<ProbeAttempt> => {
    if (httpGet) return probeHttp(network, httpTarget(httpGet, container, { address, purpose: 'probe' }), limited);
    if (tcpSocket) {
      const target = { host: tcpSocket.host || address, port: handlerPort(container, tcpSocket.port) };
      return probeTcp(network, target, limited);
    }
    if (grpc) {
      const target = { host: address, port: grpc.port, service: grpc.service ?? '' };
      // A Node.js timer with a delay above the maximum would expire immediately, so the clock enforces a longer
      // timeout.
      if (timeoutMs > MAX_TIMER_MS) {
        return probeGrpc(network, target, { timeoutSeconds, deadline: Number.POSITIVE_INFINITY, signal: limited });
      }
      return probeGrpc(network, target, { timeoutSeconds, deadline: clock.now() + timeoutMs, signal });
    }
    throw new Error(`missing probe handler for ${pod.metadata.namespace}/${pod.metadata.name}:${container.name}`);
  };
  return withTimeout(act, { clock, timeoutMs, signal });
}
