import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';

/** A sandbox or container that a call has found in the runtime. */
export interface FoundObject {
  readonly id: string;
  readonly pod: PodIdentity;
}

/**
 * Records which pods a service has changed and which objects it has found in the runtime, until the PLEG reads and
 * clears the record.
 */
export function createChangeTracker() {
  const changedPods = new Map<string, Pod['metadata']>();
  const foundObjects = new Map<string, FoundObject>();
  const trackingChanges =
    <Input extends { pod: Pod }, Options, Response>(service: (input: Input, options: Options) => Promise<Response>) =>
    async (input: Input, options: Options): Promise<Response> => {
      const response = await service(input, options);
      changedPods.set(input.pod.metadata.uid, input.pod.metadata);
      return response;
    };
  const trackFoundObjects =
    <Input, Options, Response extends { readonly id: string }>(
      service: (input: Input, options: Options) => Promise<Response | null>,
      getPod: (input: Input, response: Response) => PodIdentity,
    ) =>
    async (input: Input, options: Options): Promise<Response | null> => {
      const response = await service(input, options);
      if (response !== null) foundObjects.set(response.id, { id: response.id, pod: getPod(input, response) });
      return response;
    };
  return {
    trackingChanges,
    trackingFinds: trackFoundObjects,
    takeChanged: () => takeAllValues(changedPods),
    takeFound: () => takeAllValues(foundObjects),
  };
}

function takeAllValues<T>(map: Map<string, T>): readonly T[] {
  const values = [...map.values()];
  map.clear();
  return values;
}
