/** One ConfigMap or Secret that pods have in use, however it is kept up to date. */

import type { Clock } from '../../../base/clock.ts';
import { unlessAborted } from '../../../base/unlessAborted.ts';
import { configMapsPath, type ObjectType, secretsPath } from '../../../kubeclient/paths.ts';
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';
import { withTimeout } from '../../services/withTimeout.ts';

export interface HeldObject {
  /**
   * Gives what is known to be at the API server, undefined where there is none; rejects where neither is known, with a
   * message for users.
   */
  read(options: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined>;
  /** Another pod has it in use. */
  renew(): void;
  /** Called now and then; `isShown`: a volume shows it, so that whatever changes has to be seen. */
  tend(isShown: boolean): void;
  close(): void;
}

/** How an object is doing, for whoever looks at the node. */
export type HeldStep =
  | { readonly state: 'reading' | 'watching' }
  /** `why` in a word or two, without the object's name. */
  | { readonly state: 'failing'; readonly failure: string; readonly why: string; readonly until?: number };

/** Whom an object tells. */
export interface HeldListeners {
  /** It is known now, or is another than it was; undefined: there is none. */
  readonly onSeen: (object: ConfigObject | undefined) => void;
  readonly onStep: (step: HeldStep) => void;
}

export type HoldObject = (reference: ConfigReference, listeners: HeldListeners) => HeldObject;

/** Returns the type of the objects that a reference of this kind names. */
export const typeOf = ({ kind }: ConfigReference): ObjectType => ({ apiVersion: 'v1', kind });

export const collectionPath = ({ kind, namespace }: ConfigReference): string =>
  kind === 'Secret' ? secretsPath(namespace) : configMapsPath(namespace);

/** Whoever asks waits a second (objectLimit.ts): some of it is left for what was kept of the object. */
const HEARD_MS = 900;

/** Waits until the server is heard, or for as long as whoever asks may be kept waiting for that. */
export function untilHeard(
  heard: Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const act = (within: AbortSignal) =>
    unlessAborted(heard, within).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!within.aborted) throw error;
    });
  return withTimeout(act, { clock, timeoutMs: HEARD_MS, signal });
}
