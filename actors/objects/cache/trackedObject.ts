/** Defines the interface of a ConfigMap or Secret in use, which is either fetched or watched. */

import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { configMapsPath, type ObjectType, secretsPath } from '../../../kubeclient/paths.ts';
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';
import { withTimeout } from '../../services/withTimeout.ts';

export interface TrackedObject {
  /**
   * Returns the object, or undefined if it does not exist. Rejects with a message for users if it is unknown whether
   * the object exists.
   */
  read(options: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined>;
  /** Must be called when another pod starts using the object. */
  invalidate(): void;
  /**
   * Must be called periodically. `isShown` means that a volume contains the object, in which case its changes must be
   * detected.
   */
  refresh(isShown: boolean): void;
  close(): void;
}

/** The state of reading or watching a ConfigMap or Secret, for display. */
export type TrackingStep =
  | { readonly state: 'reading' | 'watching' }
  /** `why` is a short reason without the object's name. */
  | { readonly state: 'failing'; readonly failure: string; readonly why: string; readonly until?: number };

export interface TrackingListeners {
  /** Called with the object when it is first received or has changed, or with undefined if it does not exist. */
  readonly onObject: (object: ConfigObject | undefined) => void;
  readonly onStep: (step: TrackingStep) => void;
}

export type TrackObject = (reference: ConfigReference, listeners: TrackingListeners) => TrackedObject;

export const objectType = ({ kind }: ConfigReference): ObjectType => ({ apiVersion: 'v1', kind });

export const collectionPath = ({ kind, namespace }: ConfigReference): string =>
  kind === 'Secret' ? secretsPath(namespace) : configMapsPath(namespace);

/**
 * Callers wait at most a second (objectTimeout.ts). This timeout leaves part of that second for reading the persisted
 * object.
 */
const RESPONSE_TIMEOUT_MS = 900;

/** Waits for the server's response, but not longer than a caller may be blocked. */
export function waitForResponse(
  response: Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const act = (within: AbortSignal) =>
    unlessAborted(response, within).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!within.aborted) throw error;
    });
  return withTimeout(act, { clock, timeoutMs: RESPONSE_TIMEOUT_MS, signal });
}
