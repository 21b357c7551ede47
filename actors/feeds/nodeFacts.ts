/** Brings in what changes of the node while it runs. */
import type { NodeFact } from '../../machines/shared/events.ts';
import { addressesNow, type HostAddresses } from '../../pod/node/hostAddresses.ts';
import type { Clock } from '../clock.ts';
import { createAlarm } from './alarm.ts';

/** As often as a kubelet looks. */
const LOOK_MS = 10_000;

export interface NodeFactsOptions {
  readonly hostIps: HostAddresses;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly send: (fact: NodeFact) => void;
}

/**
 * Looks at the host's addresses every 10 s and tells when they are others, until the signal aborts (C27). As in a kubelet
 * cpu and memory are those that the host had when the agent started.
 */
export async function watchNodeFacts({ hostIps, clock, signal, send }: NodeFactsOptions): Promise<void> {
  if (typeof hostIps !== 'function') return;
  const alarm = createAlarm(clock, signal);
  for (let known = addressesNow(hostIps); !signal.aborted; await alarm.wait(clock.now() + LOOK_MS)) {
    const found = addressesNow(hostIps);
    if (found.join() === known.join()) continue;
    known = found;
    send({ type: 'node.factsChanged', hostIps: found, at: clock.now() });
  }
}
