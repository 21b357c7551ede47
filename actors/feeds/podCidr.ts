import { toFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { nextPodCidr, type PodCidrState } from '../../machines/node/runtime/podCidr.ts';
import { type Alarm, createAlarm } from '../alarm.ts';
import type { FactFeed } from '../boundary.ts';

interface PodCidrDependencies {
  readonly cri: Pick<Cri, 'updateRuntimeConfig'>;
  readonly clock: Clock;
  /** Returns the current pod CIDRs, separated by commas. Empty if none have been assigned yet. */
  readonly podCidr: () => string;
  /** Called when the feed starts, with a function that makes the feed check the pod CIDRs immediately. */
  readonly onStart: (check: CheckPodCidr) => void;
}

/** Checks the pod CIDRs immediately. With `again`, sends them even if the runtime has already accepted them. */
export type CheckPodCidr = (options: { readonly again: boolean }) => void;

/** Interval between attempts to send the pod CIDRs. The kubelet retries whenever it updates the status of its Node. */
const RETRY_MS = 10_000;

/**
 * Sends the pod CIDRs to the runtime when they have changed and after a runtime outage, and retries until the runtime
 * accepts them (C27, `updatePodCIDR` in `pkg/kubelet/kubelet_network.go`). If containerd is configured with a
 * `conf_template`, it writes its network configuration when it receives the pod CIDRs, and has no network before that.
 */
export function createPodCidrFeed({ cri, clock, podCidr, onStart }: PodCidrDependencies): FactFeed {
  return async (send, { signal }) => {
    const alarm: Alarm = createAlarm(clock, signal);
    let acceptedCidrs: string | undefined;
    let state: PodCidrState | undefined;
    onStart(({ again }) => {
      if (again) acceptedCidrs = undefined;
      alarm.ring();
    });
    const reportState = (next: PodCidrState) => {
      if (next !== state) send({ type: 'runtime.podCidrChanged', podCidr: next });
      state = next;
    };
    while (!signal.aborted) {
      const podCidrs = podCidr();
      if (podCidrs !== '' && podCidrs !== acceptedCidrs) {
        acceptedCidrs = podCidrs;
        try {
          const request = { runtimeConfig: { networkConfig: { podCidr: podCidrs } } };
          await cri.updateRuntimeConfig(request, { signal });
          reportState(nextPodCidr(state, { podCidr: podCidrs }, clock.now()));
        } catch (error) {
          if (signal.aborted) return;
          acceptedCidrs = undefined;
          reportState(nextPodCidr(state, { podCidr: podCidrs, failure: toFailure(error, clock.now()) }, clock.now()));
        }
      }
      await alarm.waitUntil(clock.now() + RETRY_MS);
    }
  };
}
