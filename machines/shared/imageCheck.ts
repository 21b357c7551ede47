import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';

/** The result of an image check. */
export interface ImageCheck {
  /** The runtime's reference of the image. Null if it is absent. */
  readonly imageRef: string | null;
  /** When the check started, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether the image is present, but the pod has to prove its access to the registry first. */
  readonly isUnproven?: boolean;
  /** Events about the pod's image pull secrets. */
  readonly warnings?: readonly EventMessage[];
}
