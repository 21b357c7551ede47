/** Fills the ports of probes: one try of each kind of handler, and the jitter by which they are spread. */

import type { Clock } from '../../../base/clock.ts';
import { MAX_TIMER_MS } from '../../../base/duration.ts';
import { messageOf } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import { probeOf } from '../../../machines/probe/context.ts';
import type { ProbeRun } from '../../../machines/shared/ports.ts';
import type { Services } from '../../boundary.ts';
import { containerNamed } from '../containers/containers.ts';
import { handlerPort } from '../http/handlerTarget.ts';
import { httpTarget } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import { withTimeout } from '../withTimeout.ts';
import { tryExec } from './probeExec.ts';
import { tryGrpc } from './probeGrpc.ts';
import { tryHttp } from './probeHttp.ts';
import { tryTcp } from './probeTcp.ts';
import type { Try } from './probeTry.ts';

export interface ProbeParts {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly network: Network;
  /** A pod without addresses of its own is reached at those of the node. */
  readonly node: () => Pick<NodeDescription, 'hostIps'>;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
}

/** How often a try is made when the tool fails. */
const TRIES = 3;

export function probeServices(parts: ProbeParts): Pick<Services, 'runProbe' | 'pickMoment'> {
  const { clock, jitter } = parts;
  return {
    runProbe: async (run, { signal }) => {
      const beganAt = clock.now();
      for (let tries = 1; ; tries += 1) {
        try {
          return { ...(await tryOnce(parts, run, signal)), beganAt, at: clock.now() };
        } catch (error) {
          if (tries < TRIES && !signal.aborted) continue;
          const message = messageOf(error);
          return { result: 'error', message, beganAt, at: clock.now() };
        }
      }
    },
    pickMoment: async ({ withinMs }) => ({ at: clock.now() + Math.floor(jitter() * withinMs) }),
  };
}

async function tryOnce(parts: ProbeParts, run: ProbeRun, signal: AbortSignal): Promise<Try> {
  const { cri, clock, network, node } = parts;
  const { pod, kind, id, podIp } = run;
  const container = containerNamed(pod, run.container);
  const { exec, httpGet, tcpSocket, grpc, timeoutSeconds: given } = probeOf(pod, run.container, kind) ?? {};
  const timeoutSeconds = given || 1;
  const timeoutMs = timeoutSeconds * 1_000;
  const address = podIp ?? node().hostIps[0] ?? '127.0.0.1';
  // The runtime counts the time of a command itself, from its start.
  if (exec) return tryExec(cri, { container, id, command: exec.command ?? [] }, { timeoutSeconds, signal });
  const act = async (limited: AbortSignal): Promise<Try> => {
    if (httpGet) return tryHttp(network, httpTarget(httpGet, container, { address, purpose: 'probe' }), limited);
    if (tcpSocket) {
      const target = { host: tcpSocket.host || address, port: handlerPort(container, tcpSocket.port) };
      return tryTcp(network, target, limited);
    }
    if (grpc) {
      const target = { host: address, port: grpc.port, service: grpc.service ?? '' };
      // A deadline further away than a timer can count would have passed at once: then the clock ends the try.
      if (timeoutMs > MAX_TIMER_MS) {
        return tryGrpc(network, target, { timeoutSeconds, deadline: Number.POSITIVE_INFINITY, signal: limited });
      }
      return tryGrpc(network, target, { timeoutSeconds, deadline: clock.now() + timeoutMs, signal });
    }
    throw new Error(`missing probe handler for ${pod.metadata.namespace}/${pod.metadata.name}:${container.name}`);
  };
  return withTimeout(act, { clock, timeoutMs, signal });
}
