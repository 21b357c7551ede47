import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';

/** What a look for an image says. */
export interface FoundImage {
  /** As the runtime knows it; null when it is not there. */
  readonly imageRef: string | null;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly at: number;
  /** It is there, and its pod has yet to prove its right to it: only its registry can tell. */
  readonly isUnproven?: boolean;
  /** What the author of the pod should know of its pull secrets. */
  readonly warnings?: readonly EventMessage[];
}
