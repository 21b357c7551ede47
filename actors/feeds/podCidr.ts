/** The feed that gives the runtime the addresses of the node's pods. */

import type { Clock } from '../../base/clock.ts';
import { toFailure } from '../../base/failure.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { nextPodCidr, type PodCidrState } from '../../machines/node/podCidr.ts';
import { type Alarm, createAlarm } from '../alarm.ts';
import type { Feed } from '../boundary.ts';

interface PodCidrParts {
  readonly cri: Pick<Cri, 'updateRuntimeConfig'>;
  readonly clock: Clock;
  /** The addresses that pods have now, several separated by commas. Empty if nobody has assigned any yet. */
  readonly podCidr: () => string;
  /** Is called with a function that makes the feed look at the addresses at once. */
  readonly onStart: (look: Look) => void;
}

/** Looks at the addresses at once. `again` sends them even if the runtime had taken them before. */
export type Look = (options: { readonly again: boolean }) => void;

/** The interval of a kubelet, which looks whenever it looks at its Node's status. */
const RETRY_MS = 10_000;

/**
 * Sends the addresses when they have changed and when the runtime has returned, and retries until the runtime takes them
 * (C27, `updatePodCIDR` in `pkg/kubelet/kubelet_network.go`). A containerd with a `conf_template` writes its network
 * configuration then, and has no network before.
 */
export function podCidrFeed({ cri, clock, podCidr, onStart }: PodCidrParts): Feed {
  return async (send, { signal }) => {
    const alarm: Alarm = createAlarm(clock, signal);
    let taken: string | undefined;
    let state: PodCidrState | undefined;
    onStart(({ again }) => {
      if (again) taken = undefined;
      alarm.ring();
    });
    const report = (next: PodCidrState) => {
      if (next !== state) send({ type: 'runtime.podCidrChanged', podCidr: next });
      state = next;
    };
    while (!signal.aborted) {
      const wanted = podCidr();
      if (wanted !== '' && wanted !== taken) {
        taken = wanted;
        try {
          const request = { runtimeConfig: { networkConfig: { podCidr: wanted } } };
          await cri.updateRuntimeConfig(request, { signal });
          report(nextPodCidr(state, { podCidr: wanted }, clock.now()));
        } catch (error) {
          if (signal.aborted) return;
          taken = undefined;
          report(nextPodCidr(state, { podCidr: wanted, failure: toFailure(error, clock.now()) }, clock.now()));
        }
      }
      await alarm.wait(clock.now() + RETRY_MS);
    }
  };
}
