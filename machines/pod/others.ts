/** What a pod makes of the sandboxes that another agent has of it. */
import type { Failure } from '../../pod/failure.ts';
import { madeBy } from '../../pod/lifecycle/observed.ts';
import { type PodContext, readySandboxes } from './context.ts';

/** Another agent has a sandbox of the pod, and this one has none that lives. */
export const isRunByOthers = ({ observed }: PodContext): boolean =>
  (observed.others ?? []).length > 0 && readySandboxes(observed).length === 0;

/** Whose sandbox it is that the pod waits for. */
export function othersFailure({ observed: { others = [] }, bornAt: at }: PodContext): Failure {
  const [owner = ''] = others.flatMap((sandbox) => sandbox.owner ?? []);
  return { reason: 'FailedCreatePodSandBox', message: madeBy(owner), at };
}
