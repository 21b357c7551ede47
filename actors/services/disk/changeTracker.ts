import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';

/** A sandbox or container that the runtime has, by its ID. */
export interface FoundObject {
  readonly id: string;
  readonly pod: PodIdentity;
}

/**
 * Records which pods a service has changed and which objects it has found in the runtime, until the PLEG reads and
 * clears the record.
 */
export function createChangeTracker() {
  const changed = new Map<string, Pod['metadata']>();
  const foundObjects = new Map<string, FoundObject>();
  const trackingChanges =
    <Input extends { pod: Pod }, Options, Response>(service: (input: Input, options: Options) => Promise<Response>) =>
    async (input: Input, options: Options): Promise<Response> => {
      const response = await service(input, options);
      changed.set(input.pod.metadata.uid, input.pod.metadata);
      return response;
    };
  const trackingFinds =
    <Input, Options, Response extends { readonly id: string }>(
      service: (input: Input, options: Options) => Promise<Response | null>,
      podOf: (input: Input, response: Response) => PodIdentity,
    ) =>
    async (input: Input, options: Options): Promise<Response | null> => {
      const response = await service(input, options);
      if (response !== null) foundObjects.set(response.id, { id: response.id, pod: podOf(input, response) });
      return response;
    };
  return {
    trackingChanges: trackingChanges,
    trackingFinds: trackingFinds,
    takeChanged: () => takeValues(changed),
    takeFound: () => takeValues(foundObjects),
  };
}

function takeValues<T>(map: Map<string, T>): readonly T[] {
  const values = [...map.values()];
  map.clear();
  return values;
}
