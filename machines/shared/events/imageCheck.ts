import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';

export interface ImageCheck {
  /** The runtime's reference to the image. Null if the image is absent. */
  readonly imageRef: string | null;
  /** Start time of the check in milliseconds since the epoch. */
  readonly at: number;
  /** Whether the image is present but the pod first has to prove its access to the registry. */
  readonly isUnproven?: boolean;
  /** Events about the pod's image pull secrets. */
  readonly warnings?: readonly EventMessage[];
}
