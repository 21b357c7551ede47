import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedSandbox } from '../../../cri/client/observe.ts';
import { POD_UID_LABEL } from '../../../cri/config/labels.ts';
import type { ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';

/** Lists the current sandboxes of one pod, in any order. */
export async function listPodSandboxes(
  cri: Pick<Cri, 'listPodSandbox'>,
  podUid: string,
  options: CallOptions,
): Promise<readonly ObservedSandbox[]> {
  const labelSelector = { [POD_UID_LABEL]: podUid };
  const { items } = await cri.listPodSandbox({ filter: { id: '', state: undefined, labelSelector } }, options);
  return items.flatMap((item) => observedSandbox(item) ?? []);
}
